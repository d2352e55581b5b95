#include <lockstep/step.hpp>

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bound_rules.hpp"
#include "check/name_rules.hpp"

namespace {
using namespace lockstep;
using Texts = std::vector<std::string>;

/// "a, b, c and 5 more"
std::string listed(const Texts& names) {
  constexpr std::size_t most = 5;
  const auto shown = std::min(names.size(), most);
  auto text = fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  return names.size() > most ? text + fmt::format(" and {} more", names.size() - most) : text;
}

Value list_of(const Texts& names) {
  Value::Array list;
  for (const auto& name : names) list.emplace_back(name);
  return list;
}

/// Compares two sets of tensors, name by name.
struct CompareTensors final : Step {
  In<NamedTensors> expected{*this, "expected", "what is right"};
  In<NamedTensors> actual{*this, "actual", "what is verified"};

  Param<Texts> bounds{
      *this,
      "bounds",
      "rules \"PATTERN: METRIC KEY=NUMBER …\" of expected names; the first that fits counts, without one "
      "the bound of matches",
      {.default_value = Texts{}}};
  Param<Texts> rename{
      *this,
      "rename",
      "rules \"OLD=NEW\" from expected to actual names, with at most one * in each; the first that fits "
      "counts",
      {.default_value = Texts{}}};
  Param<Texts> include{
      *this, "include", "patterns of expected names to compare; none: all", {.default_value = Texts{}}};
  Param<Texts> exclude{*this, "exclude", "patterns of names to leave out", {.default_value = Texts{}}};
  Param<bool> allow_missing{*this, "allow_missing", "the actual side may lack tensors", {.default_value = false}};
  Param<bool> allow_unexpected{
      *this, "allow_unexpected", "the actual side may have more tensors", {.default_value = false}};

  Check same_names{*this, "same_names", expect(), "the names of the expected side, renamed"};
  Check matches{*this, "matches", close(), "the expected side's tensor of that name"};

  void validate(Rules& rules) const override {
    find_problems(rules, bounds, [](const std::string& text) { (void)common::parse_bound_rule(text); });
    std::set<std::string> seen;
    find_problems(rules, rename, [&](const std::string& text) {
      const auto rule = RenameRule::parse(text);
      if (!seen.insert(rule.from).second) throw Error{fmt::format("'{}' is renamed a second time", rule.from)};
    });
  }

  void run(StepContext& context) override {
    const auto pairs = pair_names(expected->names(), actual->names(), name_rules());
    const auto bound_rules = common::parse_bound_rules(*bounds);
    require_fit(bound_rules);
    judge_names(pairs, context);
    const auto source = bounds.location().source != nullptr ? bounds.location().to_string() : "default";
    std::int64_t done = 0;
    for (const auto& [name, other] : pairs.pairs) {
      context.progress(done++, std::ssize(pairs.pairs), "tensors");
      auto entry = matches.at(name == other ? name : fmt::format("{} -> {}", name, other));
      const Expected right{expected->at(name)};
      const Actual verified{actual->at(other)};
      if (const auto* rule = common::rule_for(name, bound_rules); rule != nullptr) {
        entry.compare(right, verified, rule->criterion, source);
      } else {
        entry.compare(right, verified);
      }
    }
    context.summary(fmt::format("{} tensor{} compared", pairs.pairs.size(), pairs.pairs.size() == 1 ? "" : "s"));
  }

 private:
  /// What `read` throws about an element of a list, with the element before it.
  template <class Read>
  static void find_problems(Rules& rules, const Param<Texts>& parameter, const Read& read) {
    for (std::size_t i = 0; i < parameter->size(); ++i) {
      const auto& text = (*parameter)[i];
      try {
        read(text);
      } catch (const Error& error) {
        const auto& near = error.diagnostic().did_you_mean;
        rules.error(parameter, fmt::format("{}[{}] \"{}\": {}", parameter.info().name, i, text, error.what()),
                    near.empty() ? error.diagnostic().help : fmt::format("did you mean '{}'?", near));
      }
    }
  }

  [[nodiscard]] NameRules name_rules() const {
    NameRules rules{.include = *include, .exclude = *exclude};
    for (const auto& text : *rename) rules.rename.push_back(RenameRule::parse(text));
    return rules;
  }

  /// A rule that fits nothing was meant for something, which would then be held to another bound.
  void require_fit(const std::vector<common::BoundRule>& rules) const {
    const auto names = expected->names();
    for (const auto& rule : rules) {
      if (std::ranges::any_of(names, [&](const auto& name) { return matches_pattern(name, rule.pattern); })) continue;
      throw Error{Diagnostic{.message = fmt::format("bounds: \"{}\" fits no tensor of the expected side", rule.text),
                             .did_you_mean = did_you_mean(rule.pattern, names)}};
    }
  }

  void judge_names(const NamePairs& pairs, StepContext& context) {
    if (!pairs.missing.empty()) context.record("missing", list_of(pairs.missing));
    if (!pairs.unexpected.empty()) context.record("unexpected", list_of(pairs.unexpected));
    Texts problems;
    if (!pairs.missing.empty() && !*allow_missing)
      problems.push_back(fmt::format("{} missing: {}", pairs.missing.size(), listed(pairs.missing)));
    if (!pairs.unexpected.empty() && !*allow_unexpected)
      problems.push_back(fmt::format("{} unexpected: {}", pairs.unexpected.size(), listed(pairs.unexpected)));
    same_names.expect(problems.empty(), fmt::format("{}", fmt::join(problems, "; ")));
  }
};
}  // namespace

LOCKSTEP_STEP("common.compare_tensors", CompareTensors, "compares two sets of tensors by name")
