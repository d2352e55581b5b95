#include "report/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <set>

#include "pipeline/isolation.hpp"
#include "report/criterion_text.hpp"
#include "report/json_value.hpp"
#include "report/text.hpp"

namespace lockstep {
namespace {

/// One fact about a step: what it is about, what it is, where it comes from.
struct Line {
  std::string name;
  std::string value;
  std::string origin;
};

std::string source_of(const Plan& plan, const PlannedWire& wire) {
  return plan.steps.at(wire.step).id + "." + wire.output;
}

std::string level_text(const Check& check) {
  const auto& settings = check.settings();
  const auto text = criterion_text({check.info().criterion.metric, settings.bound});
  return settings.level == Level::require ? text : fmt::format("{}, {}", text, name_of(settings.level));
}

/// The results that are sent to the process of a step, "step.output", each once, in order.
std::vector<std::string> sent_results(const Plan& plan, const Crossing& crossing) {
  std::set<std::pair<std::size_t, std::string>> sent;
  for (const auto& wire : crossing.wires)
    if (wire.transfer != nullptr) sent.emplace(wire.step, wire.output);
  std::vector<std::string> names;
  names.reserve(sent.size());
  for (const auto& [step, output] : sent) names.push_back(plan.steps.at(step).id + "." + output);
  return names;
}

std::vector<std::string> computed_again(const Plan& plan, const Crossing& crossing) {
  std::vector<std::string> ids;
  for (const auto step : crossing.computed_again) ids.push_back(plan.steps.at(step).id);
  return ids;
}

std::vector<Line> isolation_lines(const Plan& plan, std::size_t index) {
  const auto& isolation = *plan.steps.at(index).isolation;
  const auto limit = isolation.time_limit ? fmt::format(", at most {} s", *isolation.time_limit) : "";
  std::vector<Line> lines{{"(isolation)", "in a process of its own" + limit, isolation.location.to_string()}};
  const auto crossing = crossing_of(plan, index);
  const auto again = computed_again(plan, crossing);
  const auto sent = sent_results(plan, crossing);
  if (!again.empty()) lines.push_back({"(there again)", fmt::format("{}", fmt::join(again, ", ")), ""});
  if (!sent.empty()) lines.push_back({"(sent there)", fmt::format("{}", fmt::join(sent, ", ")), ""});
  return lines;
}

std::vector<Line> lines_of(const Plan& plan, std::size_t index) {
  const auto& step = plan.steps.at(index);
  std::vector<Line> lines;
  if (step.isolation) lines = isolation_lines(plan, index);
  for (const auto& parameter : step.parameters) {
    const bool given = !std::holds_alternative<std::monostate>(parameter.value.data);
    lines.push_back(
        {parameter.name, given ? "= " + to_text(parameter.value) : "not given", given ? parameter.origin : ""});
  }
  for (const auto& wire : step.wires)
    lines.push_back(
        {wire.input, "<- " + source_of(plan, wire), wire.inferred ? "inferred" : wire.location.to_string()});
  if (!step.handle) return lines;
  for (const auto* check : step.handle->step->declarations().checks)
    lines.push_back({check->info().name, "? " + level_text(*check), check->settings().bound_source});
  return lines;
}

std::string threads_text(const PlannedEnvironment& environment) {
  return environment.threads ? std::to_string(*environment.threads) : "auto";
}

Json isolation_json(const Plan& plan, std::size_t index) {
  const auto& isolation = plan.steps.at(index).isolation;
  if (!isolation) return nullptr;
  const auto crossing = crossing_of(plan, index);
  return {{"kind", "process"},
          {"time_limit", isolation->time_limit ? Json(*isolation->time_limit) : Json(nullptr)},
          {"sent", sent_results(plan, crossing)},
          {"computed_again", computed_again(plan, crossing)}};
}

Json step_json(const Plan& plan, std::size_t index) {
  const auto& step = plan.steps.at(index);
  Json json = {{"id", step.id},
               {"uses", step.uses},
               {"skip", nullptr},
               {"plugin", nullptr},
               {"isolation", isolation_json(plan, index)}};
  if (step.skip) json["skip"] = *step.skip;
  if (step.handle) json["plugin"] = {{"file", step.handle->file.string()}, {"build_id", step.handle->build_id}};
  json["parameters"] = Json::object();
  for (const auto& parameter : step.parameters)
    json["parameters"][parameter.name] = {{"value", to_json(parameter.value)}, {"origin", parameter.origin}};
  json["inputs"] = Json::object();
  for (const auto& wire : step.wires)
    json["inputs"][wire.input] = {{"from", source_of(plan, wire)},
                                  {"inferred", wire.inferred},
                                  {"origin", wire.inferred ? Json(nullptr) : Json(wire.location.to_string())}};
  json["checks"] = Json::object();
  if (!step.handle) return json;
  for (const auto* check : step.handle->step->declarations().checks) {
    const auto& settings = check->settings();
    json["checks"][check->info().name] = {{"metric", name_of(check->info().criterion.metric)},
                                          {"level", name_of(settings.level)},
                                          {"on_vacuous", name_of(settings.on_vacuous)},
                                          {"bound", to_json(settings.bound)},
                                          {"bound_source", settings.bound_source}};
  }
  return json;
}

Json head_json(const Plan& plan) {
  return {{"schema", 1},
          {"pipeline",
           {{"name", plan.name},
            {"description", plan.description},
            {"file", plan.file},
            {"sha256", plan.sha256},
            {"overrides", plan.overrides}}}};
}

Json row_json(const MatrixRow& row) {
  Json json = {{"name", row.name}};
  json["values"] = Json::object();
  for (const auto& [axis, value] : row.values) json["values"][axis] = to_json(value);
  return json;
}

Json body_json(const Plan& plan) {
  Json json = {{"environment",
                {{"threads", plan.environment.threads ? Json(*plan.environment.threads) : Json("auto")},
                 {"seed", plan.environment.seed}}}};
  json["steps"] = Json::array();
  for (std::size_t i = 0; i < plan.steps.size(); ++i) json["steps"].push_back(step_json(plan, i));
  return json;
}

}  // namespace

std::string plan_text(const Plan& plan) {
  auto text = printable(plan.name.empty() ? plan.file : plan.name + " · " + plan.file) + "\n";
  if (plan.row) text += "row " + printable(plan.row->name) + "\n";
  if (!plan.description.empty()) text += printable(plan.description) + "\n";
  for (const auto& override_text : plan.overrides) text += printable(override_text) + "\n";
  text += fmt::format("threads {} · seed {}\n", threads_text(plan.environment), plan.environment.seed);

  std::size_t id_width = 0;
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  constexpr std::size_t widest_value = 40;  // a long path must not push every origin to the right
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const auto& step = plan.steps[i];
    id_width = std::max(id_width, display_width(printable(step.id)));
    for (const auto& line : lines_of(plan, i)) {
      name_width = std::max(name_width, display_width(printable(line.name)));
      value_width = std::max(value_width, std::min(widest_value, display_width(printable(line.value))));
    }
  }
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const auto& step = plan.steps[i];
    text += "\n" + padded(printable(step.id), id_width) + "  " + printable(step.uses);
    text += step.skip ? fmt::format("  (skip: {})\n", printable(*step.skip)) : "\n";
    for (const auto& line : lines_of(plan, i)) {
      auto row = "    " + padded(printable(line.name), name_width) + " " + padded(printable(line.value), value_width) +
                 "  " + printable(line.origin);
      row.erase(row.find_last_not_of(' ') + 1);
      text += row + "\n";
    }
  }
  return text;
}

std::string plan_json(const Plan& plan) {
  auto json = head_json(plan);
  if (plan.row) json["matrix"] = {{"rows", plan.all_rows}};
  if (plan.row) json["row"] = row_json(*plan.row);
  json.update(body_json(plan));
  return document(json);
}

std::string rows_text(const std::vector<MatrixRow>& rows, std::size_t all) {
  auto text = fmt::format("{} of {} rows\n", rows.size(), all);
  for (const auto& row : rows) text += "    " + printable(row.name) + "\n";
  return text;
}

std::string plan_json(const Plan& all, const std::vector<Plan>& rows) {
  auto json = head_json(all);
  json["pipeline"]["name"] = all.common_name;
  json["matrix"] = {{"rows", all.all_rows}};
  json["rows"] = Json::array();
  for (const auto& row : rows) {
    auto entry = row_json(*row.row);
    entry.update(body_json(row));
    json["rows"].push_back(std::move(entry));
  }
  return document(json);
}

std::string rows_github(const std::vector<MatrixRow>& rows) {
  Json json = {{"include", Json::array()}};
  for (const auto& row : rows) {
    Json entry = Json::object();
    for (const auto& [axis, value] : row.values) entry[axis] = to_json(value);
    entry["row"] = row.name;
    json["include"].push_back(std::move(entry));
  }
  return json.dump() + "\n";
}

std::string rows_ctest(const std::vector<MatrixRow>& rows, const std::string& prefix,
                       const std::vector<std::string>& command) {
  // A bracket argument of CMake is taken as it is; none of the words can hold its end, checked by the length of it.
  const auto quoted = [](const std::string& word) {
    std::string equals = "=";
    while (word.find("]" + equals + "]") != std::string::npos) equals += "=";
    return fmt::format("[{0}[{1}]{0}]", equals, word);
  };
  const auto with_name = [](std::string word, const std::string& name) {
    constexpr std::string_view placeholder = "{test}";
    for (auto at = word.find(placeholder); at != std::string::npos; at = word.find(placeholder, at + name.size()))
      word.replace(at, placeholder.size(), name);
    return word;
  };
  const auto test = [&](const std::string& name, const std::vector<std::string>& words) {
    auto text = fmt::format("add_test({}", quoted(name));
    for (const auto& word : words) text += " " + quoted(with_name(word, name));
    return text + fmt::format(")\nlist(APPEND lockstep_tests {})\n", quoted(name));
  };
  if (rows.empty()) return test(prefix, command);
  std::string text;
  for (const auto& row : rows) {
    auto words = command;
    words.insert(words.end(), {"--row", row.name});
    text += test(prefix + "." + row.name, words);
  }
  return text;
}

}  // namespace lockstep
