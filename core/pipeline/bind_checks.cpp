#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lockstep/diagnostic.hpp>
#include "check/compare.hpp"
#include "pipeline/binding.hpp"
#include "pipeline/declared.hpp"
#include "pipeline/render_diagnostic.hpp"

namespace lockstep {
namespace {

/// One check of one step, being configured.
struct Target {
  const StepSource& source;
  const CheckInfo& info;
  Findings& findings;

  [[nodiscard]] std::string label() const { return fmt::format("check {} of {}", in_quotes(info.name), source.label); }
};

/// Sets `setting` to the entry of `choices` that the member names.
template <class Enum, std::size_t N>
void bind_choice(const Target& target, const Node& table, std::string_view key,
                 const std::array<std::pair<std::string_view, Enum>, N>& choices, Enum& setting) {
  const auto* member = table.find(key);
  if (member == nullptr || member->value.reported()) return;
  const auto* text = member->value.text();
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) {
    if (text != nullptr && *text == name) {
      setting = value;
      return;
    }
    names.emplace_back(name);
  }
  const auto found = text != nullptr ? in_quotes(*text) : kind_text(member->value);
  auto& error = target.findings.error(
      "P052", member->value,
      fmt::format("{} of {} is {}, expected '{}'", in_quotes(key), target.label(), found, fmt::join(names, "', '")));
  if (text != nullptr) error.did_you_mean = did_you_mean(*text, names);
}

std::optional<double> bound_value(const Target& target, std::string_view key, const Node& node) {
  double value = 0;
  if (const auto* integer = std::get_if<std::int64_t>(&node.data)) {
    value = static_cast<double>(*integer);
  } else if (const auto* real = std::get_if<double>(&node.data)) {
    value = *real;
  } else {
    target.findings.error(
        "P053", node,
        fmt::format("bound {} of {} is {}, expected a number", in_quotes(key), target.label(), kind_text(node)));
    return std::nullopt;
  }
  const auto problem = problem_of_bound(target.info.criterion.metric, key, value);
  if (!problem) return value;
  auto& error =
      target.findings.error("P053", node, fmt::format("bound {} of {} {}", in_quotes(key), target.label(), *problem));
  if (std::isinf(value)) error.help = "to watch a value without judging it, set level = \"inform\"";
  return std::nullopt;
}

bool before(const Location& a, const Location& b) { return std::pair(a.line, a.column) < std::pair(b.line, b.column); }

void bind_bounds(const Target& target, const Node& table, CheckSettings& settings) {
  const auto keys = keys_of(target.info.criterion.metric);
  const Node* first = nullptr;  // in the order of writing
  bool good = true;
  for (const auto& [key, bound] : bound_members) {
    const auto* member = table.find(key);
    if (member == nullptr || std::ranges::find(keys, key) == keys.end()) continue;
    if (const auto value = member->value.reported() ? std::nullopt : bound_value(target, key, member->value)) {
      settings.bound.*bound = value;
      if (first == nullptr || before(member->value.location, first->location)) first = &member->value;
    } else {
      good = false;
    }
  }
  if (first == nullptr) return;
  settings.bound_source = first->location.to_string();
  const bool close = target.info.criterion.metric == Metric::close;
  if (!good || !close || settings.bound.rtol.has_value() == settings.bound.atol.has_value()) return;
  const auto* given = settings.bound.rtol ? "rtol" : "atol";
  const auto* missing = settings.bound.rtol ? "atol" : "rtol";
  target.findings
      .error("P054", *first, fmt::format("{} has {} without {}", target.label(), in_quotes(given), in_quotes(missing)))
      .help = fmt::format("give both (for example {} = 0), or neither for torch's defaults of the dtype", missing);
}

void bind_one(const StepSource& source, Check& check, const Node& table, Findings& findings) {
  const Target target{source, check.info(), findings};
  std::vector<std::string> keys{"level", "on_vacuous", "non_finite"};
  for (const auto key : keys_of(target.info.criterion.metric)) keys.emplace_back(key);
  for (const auto& [key, member] : *table.table()) {
    if (std::ranges::find(keys, key) != keys.end()) continue;
    auto& error = findings.error("P051", member.key,
                                 fmt::format("{} has no key {}; its metric is {}", target.label(), in_quotes(key),
                                             in_quotes(name_of(target.info.criterion.metric))));
    error.did_you_mean = did_you_mean(key, keys);
    error.help = fmt::format("keys here: {}", fmt::join(keys, ", "));
  }
  CheckSettings settings{.bound = target.info.criterion.bound, .level = target.info.level};
  constexpr std::array levels{std::pair{std::string_view("require"), Level::require},
                              std::pair{std::string_view("inform"), Level::inform},
                              std::pair{std::string_view("off"), Level::off}};
  constexpr std::array vacuous{std::pair{std::string_view("fail"), OnVacuous::fail},
                               std::pair{std::string_view("warn"), OnVacuous::warn},
                               std::pair{std::string_view("allow"), OnVacuous::allow}};
  constexpr std::array non_finite{std::pair{std::string_view("fail"), NonFinite::fail},
                                  std::pair{std::string_view("match"), NonFinite::match}};
  bind_choice(target, table, "level", levels, settings.level);
  bind_choice(target, table, "on_vacuous", vacuous, settings.on_vacuous);
  bind_choice(target, table, "non_finite", non_finite, settings.non_finite);
  bind_bounds(target, table, settings);
  check.configure(std::move(settings));
}

/// Says so if `node` is not a table. False if there is nothing to go into.
bool is_table(const Node* node, const std::string& what, Findings& findings) {
  if (node == nullptr || node->reported()) return false;
  if (node->table() != nullptr) return true;
  findings.error("P008", *node, fmt::format("{} is {}, expected a table", what, kind_text(*node)));
  return false;
}

}  // namespace

void bind_checks(const StepSource& source, Step& step, Findings& findings) {
  const auto& checks = step.declarations().checks;
  for (auto* check : checks) {
    CheckSettings settings{.bound = check->info().criterion.bound, .level = check->info().level};
    check->configure(std::move(settings));
  }
  if (!is_table(source.checks, fmt::format("'checks' of {}", source.label), findings)) return;
  std::vector<std::string> names;
  names.reserve(checks.size());
  for (const auto* check : checks) names.push_back(check->info().name);
  for (const auto& [name, member] : *source.checks->table()) {
    auto* check = declared(checks, name);
    if (check == nullptr) {
      auto& error =
          findings.error("P050", member.key, fmt::format("{} has no check {}", source.label, in_quotes(name)));
      error.did_you_mean = did_you_mean(name, names);
      error.help = names.empty() ? fmt::format("{} declares no checks", in_quotes(source.uses))
                                 : fmt::format("checks of {}: {}", in_quotes(source.uses), fmt::join(names, ", "));
    } else if (is_table(&member.value, fmt::format("check {} of {}", in_quotes(name), source.label), findings)) {
      bind_one(source, *check, member.value, findings);
    }
  }
}

void check_form_only(const StepSource& source, Findings& findings) {
  (void)is_table(source.with, fmt::format("'with' of {}", source.label), findings);
  if (!is_table(source.checks, fmt::format("'checks' of {}", source.label), findings)) return;
  for (const auto& [name, member] : *source.checks->table()) {
    (void)is_table(&member.value, fmt::format("check {} of {}", in_quotes(name), source.label), findings);
  }
}

}  // namespace lockstep
