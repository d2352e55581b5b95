#include "baseline/judge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <cmath>

#include "pipeline/exit_code.hpp"

namespace lockstep {
namespace {

constexpr const auto& set_up = baseline_set_up;
constexpr const auto& machine = baseline_machine;

using Fields = std::vector<std::pair<std::string, Value>>;

const Value* find(const Fields& fields, std::string_view key) {
  const auto found = std::ranges::find(fields, key, &std::pair<std::string, Value>::first);
  return found == fields.end() ? nullptr : &found->second;
}

/// The names of those of `keys` in which two environments differ.
template <class Keys>
std::vector<std::string> differing(const Fields& a, const Fields& b, const Keys& keys) {
  std::vector<std::string> names;
  for (const auto* key : keys) {
    const auto* x = find(a, key);
    const auto* y = find(b, key);
    const bool same = x == nullptr || y == nullptr ? x == y : *x == *y;
    if (!same) names.emplace_back(key);
  }
  return names;
}

std::size_t rank_of_ladder(const std::string& ladder) {
  return static_cast<std::size_t>(std::ranges::find(ladder_levels, ladder) - ladder_levels.begin());
}

std::string number(double value) { return fmt::format("{:.6g}", value); }

/// "far, was close", with the values if both are known: "norm_wise 0.0019 (far), was 1.9e-07 (close)".
std::string ladder_change(const BaselineEntry& entry, const CheckResult& check) {
  if (!entry.value || !check.value) return fmt::format("{}, was {}", *check.ladder, *entry.ladder);
  return fmt::format("{} {} ({}), was {} ({})", name_of(entry.metric), number(*check.value), *check.ladder,
                     number(*entry.value), *entry.ladder);
}

BaselineRecord::Finding finding_of(const BaselineEntry& entry, std::string message) {
  return {entry.step, entry.check, entry.subject, std::move(message)};
}

}  // namespace

std::vector<std::pair<std::string, Value>> environment_of_baseline(const RunRecord& record) {
  Fields fields;
  const auto take = [&](const auto& keys) {
    for (const auto* key : keys)
      if (const auto* value = find(record.environment, key)) fields.emplace_back(key, *value);
  };
  take(set_up);
  take(machine);
  if (record.row) fields.emplace_back("row", record.row->name);
  std::ranges::sort(fields, {}, &std::pair<std::string, Value>::first);
  return fields;
}

bool more_is_better(Metric metric) {
  constexpr std::array metrics{Metric::sqnr, Metric::cosine, Metric::pcc, Metric::top1, Metric::topk};
  return std::ranges::find(metrics, metric) != metrics.end();
}

double limit_of(const BaselineEntry& entry, const BaselineMargin& margin) {
  const auto relative = entry.relative.value_or(margin.relative);
  const auto found = margin.absolute.find(std::string(name_of(entry.metric)));
  const auto absolute = found == margin.absolute.end() ? 0.0 : found->second;
  const auto value = entry.value.value_or(0);
  if (entry.metric == Metric::sqnr) return value - 20 * std::log10(1 + relative) - absolute;
  if (more_is_better(entry.metric)) return 1 - ((1 - value) * (1 + relative) + absolute);
  return value * (1 + relative) + absolute;
}

std::map<BaselineKey, const CheckResult*> checks_by_key(const RunRecord& record) {
  std::map<BaselineKey, const CheckResult*> checks;
  for (const auto& step : record.steps) {
    if (!step.scored) continue;
    std::map<std::pair<std::string, std::string>, std::size_t> seen;
    for (const auto& check : step.checks) {
      if (!check.verdict) continue;
      const auto subject = check.subject.value_or("");
      checks.emplace(BaselineKey{step.id, check.name, subject, seen[{check.name, subject}]++}, &check);
    }
  }
  return checks;
}

std::vector<BaselineKey> keys_of(const std::vector<BaselineEntry>& entries) {
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> seen;
  std::vector<BaselineKey> keys;
  for (const auto& entry : entries) {
    const auto subject = entry.subject.value_or("");
    keys.emplace_back(entry.step, entry.check, subject, seen[{entry.step, entry.check, subject}]++);
  }
  return keys;
}

BaselineEntry entry_of(const std::string& step, const CheckResult& check) {
  return {step,        check.name,   check.subject, check.metric, check.level, check.verdict.value_or(Verdict::pass),
          check.value, check.ladder, std::nullopt};
}

ChosenSection choose_section(const Baseline& baseline, const RunRecord& record) {
  const auto here = environment_of_baseline(record);
  ChosenSection chosen;
  for (const auto& section : baseline.sections) {
    if (!differing(section.environment, here, set_up).empty()) continue;
    if (differing(section.environment, here, machine).empty()) return {&section, true};
    if (chosen.section == nullptr) chosen.section = &section;
  }
  return chosen;
}

std::optional<std::string> worse_than(const BaselineEntry& entry, const CheckResult& check,
                                      const BaselineMargin& margin, bool same_machine) {
  if (entry.level == Level::require && check.level != Level::require)
    return fmt::format("its level is {}, was require", name_of(check.level));
  if (entry.verdict != *check.verdict && *check.verdict != Verdict::pass)
    return fmt::format("{}, was {}", name_of(*check.verdict), name_of(entry.verdict));
  if (entry.metric != check.metric)
    return fmt::format("measured by {}, was {}", name_of(check.metric), name_of(entry.metric));
  if (!same_machine) return std::nullopt;
  if (entry.ladder && check.ladder && rank_of_ladder(*check.ladder) > rank_of_ladder(*entry.ladder))
    return ladder_change(entry, check);
  if (!entry.value || std::isnan(*entry.value)) return std::nullopt;
  if (!check.value) return fmt::format("{} is undefined, was {}", name_of(entry.metric), number(*entry.value));
  const auto limit = limit_of(entry, margin);
  const bool holds = more_is_better(entry.metric) ? *check.value >= limit : *check.value <= limit;
  if (holds) return std::nullopt;
  return fmt::format("{} {}, was {}, {} {}", name_of(entry.metric), number(*check.value), number(*entry.value),
                     more_is_better(entry.metric) ? "at least" : "at most", number(limit));
}

std::optional<std::string> better_than(const BaselineEntry& entry, const CheckResult& check) {
  if (entry.metric != check.metric) return std::nullopt;
  if (entry.verdict != Verdict::pass && check.verdict == Verdict::pass)
    return fmt::format("pass, was {}", name_of(entry.verdict));
  if (entry.level != Level::require && check.level == Level::require) return "its level is require";
  if (entry.ladder && check.ladder && rank_of_ladder(*check.ladder) < rank_of_ladder(*entry.ladder))
    return ladder_change(entry, check);
  if (!entry.value || !check.value) return std::nullopt;
  const bool better = more_is_better(entry.metric) ? *check.value > *entry.value : *check.value < *entry.value;
  if (!better) return std::nullopt;
  return fmt::format("{} {}, was {}", name_of(entry.metric), number(*check.value), number(*entry.value));
}

bool is_gone(const BaselineEntry& entry, const RunRecord& record) {
  if (record.verdict != RunVerdict::pass) return false;  // what ended the run tells it
  const auto step = std::ranges::find(record.steps, entry.step, &StepRecord::id);
  return step == record.steps.end() || step->scored;  // not selected: nothing is known about it
}

BaselineRecord stand_of(const RunRecord& record, const Baseline& baseline, const std::string& file) {
  BaselineRecord result{
      .file = file, .sha256 = {}, .notes = {}, .worse = {}, .better = {}, .unknown = {}, .update = {}};
  const auto chosen = choose_section(baseline, record);
  auto checks = checks_by_key(record);
  if (chosen.section == nullptr) {
    std::vector<std::string> parts;
    const auto here = environment_of_baseline(record);
    for (const auto* key : set_up)
      if (const auto* value = find(here, key)) parts.push_back(fmt::format("{} {}", key, to_text(*value)));
    result.worse.push_back(
        {"", "", std::nullopt,
         parts.empty()
             ? "the baseline has nothing about this run's set-up; --update-baseline adds it"
             : fmt::format("the baseline has nothing about {}; --update-baseline adds it", fmt::join(parts, ", "))});
  } else {
    const auto& section = *chosen.section;
    if (!chosen.same_machine)
      result.notes.push_back(fmt::format(
          "the baseline is of another machine ({} differ): verdicts are compared, values and ladder levels are not",
          fmt::join(differing(section.environment, environment_of_baseline(record), machine), ", ")));
    const auto keys = keys_of(section.checks);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto& entry = section.checks[i];
      const auto found = checks.find(keys[i]);
      if (found == checks.end()) {
        if (is_gone(entry, record)) result.worse.push_back(finding_of(entry, "the check is gone"));
        continue;
      }
      ++result.compared;
      if (auto worse = worse_than(entry, *found->second, baseline.margin, chosen.same_machine))
        result.worse.push_back(finding_of(entry, std::move(*worse)));
      else if (auto better = chosen.same_machine ? better_than(entry, *found->second) : std::nullopt)
        result.better.push_back(finding_of(entry, std::move(*better)));
      checks.erase(found);
    }
    for (const auto& [key, check] : checks)
      result.unknown.push_back({std::get<0>(key), check->name, check->subject, "not in the baseline"});
  }
  return result;
}

void keep_stand(RunRecord& record, BaselineRecord stand) {
  if (!stand.worse.empty() && record.verdict == RunVerdict::pass) {
    record.verdict = RunVerdict::fail;
    record.exit_code = exit_code::failed;
    record.message = "worse than the baseline";
  }
  record.baseline = std::move(stand);
}

void judge_by_baseline(RunRecord& record, const Baseline& baseline, const std::string& file) {
  auto stand = stand_of(record, baseline, file);
  if (stand.compared == 0 && stand.worse.empty() && record.verdict == RunVerdict::pass)
    stand.worse.push_back({"", "", std::nullopt, "nothing was compared: the run performed no check of the baseline"});
  keep_stand(record, std::move(stand));
}

std::vector<std::string> rows_gone(const Baseline& baseline, const std::vector<std::string>& matrix) {
  std::vector<std::string> gone;
  for (const auto& section : baseline.sections) {
    const auto* row = find(section.environment, "row");
    const auto* name = row == nullptr ? nullptr : std::get_if<std::string>(&row->data);
    const auto is_known = [name](const auto& names) { return std::ranges::find(names, *name) != names.end(); };
    if (name != nullptr && !is_known(matrix) && !is_known(gone)) gone.push_back(*name);
  }
  return gone;
}

}  // namespace lockstep
