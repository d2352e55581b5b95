#include "report/record_diff.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "report/json_value.hpp"

namespace lockstep {
namespace {

using Group = RecordChange::Group;
using Fields = std::vector<std::pair<std::string, Value>>;

Value value_of(const std::optional<std::string>& text) { return text ? Value(*text) : Value(); }
Value value_of(const std::optional<double>& number) { return number ? Value(*number) : Value(); }
template <class Enum>
Value value_of(const std::optional<Enum>& member) {
  return member ? Value(std::string(name_of(*member))) : Value();
}
Value value_of(const std::vector<std::int64_t>& numbers) {
  Value::Array list;
  for (const auto number : numbers) list.emplace_back(number);
  return list;
}
Value value_of(const std::vector<std::string>& texts) {
  Value::Array list;
  for (const auto& text : texts) list.emplace_back(text);
  return list;
}

/// Two NaN are the same outcome.
bool same(const Value& a, const Value& b) {
  const auto* x = std::get_if<double>(&a.data);
  const auto* y = std::get_if<double>(&b.data);
  return a == b || (x != nullptr && y != nullptr && std::isnan(*x) && std::isnan(*y));
}

/// Each member by its key; of equal ones the first, the second, …
template <class T, class Key>
std::vector<std::pair<std::string, std::size_t>> numbered(const std::vector<T>& members, const Key& key) {
  std::map<std::string, std::size_t> seen;
  std::vector<std::pair<std::string, std::size_t>> keys;
  keys.reserve(members.size());
  for (const auto& member : members) {
    std::string name(key(member));
    const auto number = seen[name]++;
    keys.emplace_back(std::move(name), number);
  }
  return keys;
}

/// Calls `visit(in_a, in_b)` for every member of two lists, matched by `key`; null where only one list has it. First in
/// the order of `a`, then what only `b` has.
template <class T, class Key, class Visit>
void match(const std::vector<T>& a, const std::vector<T>& b, const Key& key, const Visit& visit) {
  const auto keys_of_a = numbered(a, key);
  const auto keys_of_b = numbered(b, key);
  std::map<std::pair<std::string, std::size_t>, std::size_t> in_b;
  for (std::size_t i = 0; i < b.size(); ++i) in_b.emplace(keys_of_b[i], i);
  std::vector<bool> used(b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto found = in_b.find(keys_of_a[i]);
    visit(&a[i], found == in_b.end() ? nullptr : &b[found->second]);
    if (found != in_b.end()) used[found->second] = true;
  }
  for (std::size_t i = 0; i < b.size(); ++i)
    if (!used[i]) visit(nullptr, &b[i]);
}

/// Collects the changes of one place.
class Changes {
 public:
  explicit Changes(std::vector<RecordChange>& all) : all_(all) {}
  Changes(std::vector<RecordChange>& all, std::string step) : all_(all), step_(std::move(step)) {}
  Changes(std::vector<RecordChange>& all, std::string step, const CheckResult& check)
      : all_(all), step_(std::move(step)), check_(check.name), subject_(check.subject) {}

  void add(Group group, std::string field, std::optional<Value> before, std::optional<Value> after) {
    all_.push_back({group, step_, check_, subject_, std::move(field), std::move(before), std::move(after)});
  }
  void compare(Group group, std::string field, const Value& before, const Value& after) {
    if (!same(before, after)) add(group, std::move(field), before, after);
  }
  /// Field by field; one that only one side has is a change too.
  void compare(Group group, const std::string& prefix, const Fields& before, const Fields& after) {
    const auto key = [](const Fields::value_type& field) -> std::string_view { return field.first; };
    match(before, after, key, [&](const Fields::value_type* here, const Fields::value_type* there) {
      if (here != nullptr && there != nullptr)
        compare(group, prefix + here->first, here->second, there->second);
      else if (here != nullptr)
        add(group, prefix + here->first, here->second, std::nullopt);
      else
        add(group, prefix + there->first, std::nullopt, there->second);
    });
  }

 private:
  std::vector<RecordChange>& all_;
  std::string step_;
  std::string check_;
  std::optional<std::string> subject_;
};

Fields bound_of(const CheckResult& check) {
  Fields fields;
  for (const auto& [key, member] : bound_members)
    if (const auto& value = check.bound.*member) fields.emplace_back(key, *value);
  return fields;
}

void compare(const CheckResult& a, const CheckResult& b, Changes changes) {
  changes.compare(Group::verdict, "verdict", value_of(a.verdict), value_of(b.verdict));
  changes.compare(Group::value, "value", value_of(a.value), value_of(b.value));
  changes.compare(Group::value, "ladder", value_of(a.ladder), value_of(b.ladder));
  changes.compare(Group::value, "compared", a.compared, b.compared);
  changes.compare(Group::value, "mismatched", a.mismatched, b.mismatched);
  changes.compare(Group::value, "message", value_of(a.message), value_of(b.message));
  changes.compare(Group::value, "statistics.", Fields(a.statistics.begin(), a.statistics.end()),
                  Fields(b.statistics.begin(), b.statistics.end()));
  const auto worst = [](const CheckResult& check) {
    if (!check.worst) return Fields{};
    return Fields{
        {"index", value_of(check.worst->index)}, {"expected", check.worst->expected}, {"actual", check.worst->actual}};
  };
  changes.compare(Group::value, "worst.", worst(a), worst(b));
  changes.compare(Group::setup, "metric", std::string(name_of(a.metric)), std::string(name_of(b.metric)));
  changes.compare(Group::setup, "level", std::string(name_of(a.level)), std::string(name_of(b.level)));
  changes.compare(Group::setup, "on_vacuous", std::string(name_of(a.on_vacuous)), std::string(name_of(b.on_vacuous)));
  changes.compare(Group::setup, "bound.", bound_of(a), bound_of(b));
  changes.compare(Group::setup, "expected", a.expected, b.expected);
  changes.compare(Group::information, "bound_source", a.bound_source, b.bound_source);
}

void compare_checks(const StepRecord& a, const StepRecord& b, std::vector<RecordChange>& all) {
  const auto key = [](const CheckResult& check) {
    return check.name + (check.subject ? '\0' + *check.subject : std::string());
  };
  match(a.checks, b.checks, key, [&](const CheckResult* before, const CheckResult* after) {
    if (before != nullptr && after != nullptr)
      compare(*before, *after, Changes(all, a.id, *before));
    else if (before != nullptr)
      Changes(all, a.id, *before).add(Group::presence, "check", value_of(before->verdict), std::nullopt);
    else
      Changes(all, b.id, *after).add(Group::presence, "check", std::nullopt, value_of(after->verdict));
  });
}

Fields outputs_of(const StepRecord& step) {
  Fields fields;
  for (const auto& output : step.outputs) {
    fields.emplace_back(output.name + ".type", output.type);
    for (const auto& tensor : output.tensors) {
      const auto name = output.name + (tensor.name.empty() ? "" : "." + tensor.name);
      fields.emplace_back(name + ".dtype", std::string(name_of(tensor.dtype)));
      fields.emplace_back(name + ".shape", value_of(tensor.shape));
    }
  }
  return fields;
}

std::string isolation_of(const StepRecord& step) { return step.isolated ? "process" : "none"; }

void compare(const StepRecord& a, const StepRecord& b, std::vector<RecordChange>& all) {
  Changes changes(all, a.id);
  changes.compare(Group::verdict, "status", value_of(a.status), value_of(b.status));
  changes.compare(Group::verdict, "reason", value_of(a.reason), value_of(b.reason));
  compare_checks(a, b, all);
  changes.compare(Group::setup, "scored", a.scored, b.scored);
  changes.compare(Group::setup, "isolation", isolation_of(a), isolation_of(b));
  changes.compare(Group::setup, "uses", a.uses, b.uses);
  changes.compare(Group::setup, "plugin.build_id", a.build_id, b.build_id);
  changes.compare(Group::setup, "parameters.", a.parameters, b.parameters);
  changes.compare(Group::setup, "inputs.", Fields(a.inputs.begin(), a.inputs.end()),
                  Fields(b.inputs.begin(), b.inputs.end()));
  changes.compare(Group::setup, "outputs.", outputs_of(a), outputs_of(b));
  changes.compare(Group::setup, "", a.extra, b.extra);
  changes.compare(Group::information, "plugin.file", a.plugin_file, b.plugin_file);
  changes.compare(Group::information, "location", a.location, b.location);
  changes.compare(Group::information, "summary", value_of(a.summary), value_of(b.summary));
  changes.compare(Group::information, "seconds", a.seconds, b.seconds);
  changes.compare(Group::information, "peak_rss_bytes", a.peak_rss_bytes, b.peak_rss_bytes);
  changes.compare(Group::information, "peak_private_bytes", a.peak_private_bytes, b.peak_private_bytes);
}

void compare_steps(const RunRecord& a, const RunRecord& b, std::vector<RecordChange>& all) {
  const auto id = [](const StepRecord& step) -> std::string_view { return step.id; };
  match(a.steps, b.steps, id, [&](const StepRecord* before, const StepRecord* after) {
    if (before != nullptr && after != nullptr)
      compare(*before, *after, all);
    else if (before != nullptr)
      Changes(all, before->id).add(Group::presence, "step", value_of(before->status), std::nullopt);
    else
      Changes(all, after->id).add(Group::presence, "step", std::nullopt, value_of(after->status));
  });
}

/// The ids of the steps that `other` has too, in the order of `record`.
std::vector<std::string> order_of(const RunRecord& record, const RunRecord& other) {
  std::set<std::string_view> known;
  for (const auto& step : other.steps) known.insert(step.id);
  std::vector<std::string> ids;
  for (const auto& step : record.steps)
    if (known.contains(step.id)) ids.push_back(step.id);
  return ids;
}

/// What a run was held against, and what it was found to be.
Fields baseline_of(const RunRecord& record) {
  if (!record.baseline) return {};
  const auto& baseline = *record.baseline;
  const auto texts = [](const std::vector<BaselineRecord::Finding>& findings) {
    std::vector<std::string> all;
    all.reserve(findings.size());
    for (const auto& finding : findings)
      all.push_back(
          fmt::format("{} {} {}: {}", finding.step, finding.check, finding.subject.value_or(""), finding.message));
    return value_of(all);
  };
  return {{"sha256", baseline.sha256},
          {"compared", baseline.compared},
          {"worse", texts(baseline.worse)},
          {"unknown", texts(baseline.unknown)}};
}

Fields counts_of(const std::vector<std::pair<std::string, std::int64_t>>& counts) {
  return {counts.begin(), counts.end()};
}

void compare(const RowSummary& a, const RowSummary& b, std::vector<RecordChange>& all) {
  Changes changes(all);
  const auto place = "rows." + a.row.name;
  const auto verdict = [](const RowSummary& row) { return std::string(name_of(row.verdict)); };
  changes.compare(Group::verdict, place + ".verdict", verdict(a), verdict(b));
  changes.compare(Group::verdict, place + ".exit_code", a.exit_code, b.exit_code);
  changes.compare(Group::verdict, place + ".message", value_of(a.message), value_of(b.message));
  changes.compare(Group::verdict, place + ".steps.", counts_of(a.steps), counts_of(b.steps));
  changes.compare(Group::verdict, place + ".checks.", counts_of(a.checks), counts_of(b.checks));
  changes.compare(Group::information, place + ".seconds", a.seconds, b.seconds);
  changes.compare(Group::information, place + ".peak_rss_bytes", a.peak_rss_bytes, b.peak_rss_bytes);
  changes.compare(Group::information, place + ".peak_private_bytes", a.peak_private_bytes, b.peak_private_bytes);
}

/// The rows of two summaries, by name.
void compare_rows(const RunRecord& a, const RunRecord& b, std::vector<RecordChange>& all) {
  const std::vector<RowSummary> none;
  const auto name = [](const RowSummary& row) -> std::string_view { return row.row.name; };
  match(a.rows ? *a.rows : none, b.rows ? *b.rows : none, name, [&](const RowSummary* before, const RowSummary* after) {
    if (before != nullptr && after != nullptr) return compare(*before, *after, all);
    const auto& only = before != nullptr ? *before : *after;
    const Value verdict = std::string(name_of(only.verdict));
    Changes(all).add(Group::presence, "rows." + only.row.name,
                     before != nullptr ? std::optional(verdict) : std::nullopt,
                     after != nullptr ? std::optional(verdict) : std::nullopt);
  });
}

std::vector<std::string> diagnostics_of(const RunRecord& record) {
  std::vector<std::string> texts;
  for (const auto& diagnostic : record.diagnostics) texts.push_back(diagnostic.code + ": " + diagnostic.message);
  return texts;
}

}  // namespace

std::string_view name_of(RecordChange::Group group) {
  switch (group) {
    case Group::verdict:
      return "verdict";
    case Group::presence:
      return "presence";
    case Group::value:
      return "value";
    case Group::setup:
      return "setup";
    case Group::environment:
      return "environment";
    case Group::information:
      return "information";
  }
  return "information";
}

std::optional<double> factor_of(const RecordChange& change) {
  const auto number = [](const std::optional<Value>& value) -> std::optional<double> {
    if (!value) return std::nullopt;
    if (const auto* real = std::get_if<double>(&value->data)) return *real;
    if (const auto* integer = std::get_if<std::int64_t>(&value->data)) return static_cast<double>(*integer);
    return std::nullopt;
  };
  const bool measured = change.group == Group::value || change.group == Group::information;
  const auto before = number(change.before);
  const auto after = number(change.after);
  if (!measured || !before || !after || *before == 0) return std::nullopt;
  const auto factor = *after / *before;
  return std::isfinite(factor) && factor > 0 ? std::optional(factor) : std::nullopt;
}

std::vector<RecordChange> diff_records(const RunRecord& before, const RunRecord& after) {
  std::vector<RecordChange> all;
  Changes run(all);
  const auto text = [](auto verdict) { return std::string(name_of(verdict)); };
  run.compare(Group::verdict, "verdict", text(before.verdict), text(after.verdict));
  run.compare(Group::verdict, "exit_code", before.exit_code, after.exit_code);
  run.compare(Group::verdict, "message", value_of(before.message), value_of(after.message));
  run.compare(Group::verdict, "diagnostics", value_of(diagnostics_of(before)), value_of(diagnostics_of(after)));
  compare_rows(before, after, all);
  compare_steps(before, after, all);
  const auto row = [](const RunRecord& record) { return record.row ? Value(record.row->name) : Value(); };
  run.compare(Group::setup, "row", row(before), row(after));
  run.compare(Group::setup, "steps", value_of(order_of(before, after)), value_of(order_of(after, before)));
  run.compare(Group::setup, "baseline.", baseline_of(before), baseline_of(after));
  run.compare(Group::setup, "matrix.rows", value_of(before.matrix), value_of(after.matrix));
  run.compare(Group::environment, "pipeline.name", before.pipeline_name, after.pipeline_name);
  run.compare(Group::environment, "pipeline.sha256", before.pipeline_sha256, after.pipeline_sha256);
  run.compare(Group::environment, "overrides", value_of(before.overrides), value_of(after.overrides));
  run.compare(Group::environment, "config_sha256", value_of(before.config_sha256), value_of(after.config_sha256));
  run.compare(Group::environment, "selection", value_of(before.selection), value_of(after.selection));
  run.compare(Group::environment, "tool.version", before.tool_version, after.tool_version);
  run.compare(Group::environment, "environment.", before.environment, after.environment);
  run.compare(Group::information, "pipeline.file", before.pipeline_file, after.pipeline_file);
  run.compare(Group::information, "seconds", before.seconds, after.seconds);
  run.compare(Group::information, "peak_rss_bytes", before.peak_rss_bytes, after.peak_rss_bytes);
  run.compare(Group::information, "peak_private_bytes", before.peak_private_bytes, after.peak_private_bytes);
  std::ranges::stable_sort(all, {}, &RecordChange::group);
  return all;
}

bool is_equal(const std::vector<RecordChange>& changes) {
  return std::ranges::all_of(changes, [](const auto& change) { return change.group == Group::information; });
}

}  // namespace lockstep
