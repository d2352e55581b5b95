#include "report/json.hpp"

#include <optional>

#include "report/json_value.hpp"

namespace lockstep {
namespace {

constexpr int schema = 1;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json place(const Location& location) {
  const bool known = location.source != nullptr;
  return {{"file", known ? Json(location.source->name) : Json(nullptr)},
          {"line", known && location.line > 0 ? Json(location.line) : Json(nullptr)},
          {"column", known && location.line > 0 ? Json(location.column) : Json(nullptr)}};
}

Json to_json(const Diagnostic& diagnostic) {
  Json json = {{"severity", diagnostic.severity == Severity::error ? "error" : "warning"},
               {"code", or_null(diagnostic.code)},
               {"message", diagnostic.message}};
  json.update(place(diagnostic.location));
  json["did_you_mean"] = or_null(diagnostic.did_you_mean);
  json["help"] = or_null(diagnostic.help);
  json["notes"] = Json::array();
  for (const auto& note : diagnostic.notes) {
    Json entry = {{"message", note.message}};
    entry.update(place(note.location));
    json["notes"].push_back(std::move(entry));
  }
  return json;
}

Json tensor_info(const OutputRecord::TensorInfo& tensor) {
  return {{"dtype", name_of(tensor.dtype)}, {"shape", tensor.shape}};
}

Json to_json(const OutputRecord& output) {
  Json json = {{"type", output.type}};
  for (const auto& tensor : output.tensors) {
    if (tensor.name.empty())
      json.update(tensor_info(tensor));
    else
      json["tensors"][tensor.name] = tensor_info(tensor);
  }
  return json;
}

Json to_json(const CheckResult& check) {
  Json json = {{"name", check.name},
               {"subject", or_null(check.subject)},
               {"metric", name_of(check.metric)},
               {"level", name_of(check.level)},
               {"verdict", check.verdict ? Json(name_of(*check.verdict)) : Json(nullptr)},
               {"on_vacuous", name_of(check.on_vacuous)},
               {"value", check.value ? number(*check.value) : Json(nullptr)},
               {"bound", to_json(check.bound)},
               {"bound_source", check.bound_source},
               {"compared", check.compared},
               {"mismatched", check.mismatched},
               {"ladder", or_null(check.ladder)},
               {"message", or_null(check.message)},
               {"expected", check.expected}};
  json["statistics"] = Json::object();
  for (const auto& [name, value] : check.statistics) json["statistics"][name] = number(value);
  json["worst"] = nullptr;
  if (check.worst)
    json["worst"] = {{"index", check.worst->index},
                     {"expected", to_json(check.worst->expected)},
                     {"actual", to_json(check.worst->actual)}};
  return json;
}

Json fields(const std::vector<std::pair<std::string, Value>>& values) {
  auto json = Json::object();
  for (const auto& [key, value] : values) json[key] = to_json(value);
  return json;
}

Json to_json(const StepRecord& step) {
  Json json = {{"id", step.id}, {"uses", step.uses}, {"location", or_null(step.location)}, {"plugin", nullptr}};
  if (!step.plugin_file.empty()) json["plugin"] = {{"file", step.plugin_file}, {"build_id", or_null(step.build_id)}};
  json.update({{"scored", step.scored},
               {"status", step.status ? Json(name_of(*step.status)) : Json(nullptr)},
               {"reason", or_null(step.reason)},
               {"help", or_null(step.help)},
               {"summary", or_null(step.summary)},
               {"seconds", number(step.seconds)},
               {"peak_rss_bytes", step.peak_rss_bytes},
               {"peak_private_bytes", step.peak_private_bytes},
               {"parameters", fields(step.parameters)}});
  json["inputs"] = Json::object();
  for (const auto& [port, source] : step.inputs) json["inputs"][port] = source;
  json["outputs"] = Json::object();
  for (const auto& output : step.outputs) json["outputs"][output.name] = to_json(output);
  json["checks"] = Json::array();
  for (const auto& check : step.checks) json["checks"].push_back(to_json(check));
  if (step.isolated) json["isolation"] = "process";
  if (!step.output_tail.empty()) json["output_tail"] = step.output_tail;
  for (const auto& [key, value] : step.extra) json[key] = to_json(value);  // no step can set one of the above
  return json;
}

Json to_json(const std::vector<BaselineRecord::Finding>& findings) {
  auto json = Json::array();
  for (const auto& finding : findings)
    json.push_back({{"step", finding.step},
                    {"check", finding.check},
                    {"subject", or_null(finding.subject)},
                    {"message", finding.message}});
  return json;
}

Json to_json(const BaselineRecord& baseline) {
  return {{"file", baseline.file},
          {"sha256", baseline.sha256},
          {"compared", baseline.compared},
          {"notes", baseline.notes},
          {"worse", to_json(baseline.worse)},
          {"better", to_json(baseline.better)},
          {"unknown", to_json(baseline.unknown)},
          {"update", or_null(baseline.update)}};
}

Json to_json(const MatrixRow& row) { return {{"name", row.name}, {"values", fields(row.values)}}; }

Json to_json(const RowSummary& row) {
  auto json = to_json(row.row);
  json.update({{"verdict", name_of(row.verdict)},
               {"exit_code", row.exit_code},
               {"message", or_null(row.message)},
               {"run_id", or_null(row.run_id)},
               {"seconds", number(row.seconds)},
               {"peak_rss_bytes", row.peak_rss_bytes},
               {"peak_private_bytes", row.peak_private_bytes},
               {"record", or_null(row.record)}});
  json["steps"] = Json::object();
  for (const auto& [name, count] : row.steps) json["steps"][name] = count;
  json["checks"] = Json::object();
  for (const auto& [name, count] : row.checks) json["checks"][name] = count;
  json["failures"] = Json::array();
  for (const auto& failure : row.failures)
    json["failures"].push_back({{"word", failure.word},
                                {"step", or_null(failure.step)},
                                {"check", or_null(failure.check)},
                                {"message", failure.message},
                                {"location", or_null(failure.location)}});
  json["more_failures"] = row.more_failures;
  return json;
}

}  // namespace

std::string step_to_json(const StepRecord& step) {
  auto text = document(to_json(step));
  text.pop_back();
  std::string indented;
  for (const char c : text) {
    indented += c;
    if (c == '\n') indented += "    ";  // never inside a text: JSON escapes it there
  }
  return indented;
}

std::string to_json(const RunRecord& record) {
  std::vector<std::string> steps;
  steps.reserve(record.steps.size());
  for (const auto& step : record.steps) steps.push_back(step_to_json(step));
  return to_json(record, steps);
}

std::string to_json(const RunRecord& record, const std::vector<std::string>& steps) {
  Json json = {
      {"schema", schema},
      {"tool",
       {{"name", "lockstep"}, {"version", record.tool_version.empty() ? LOCKSTEP_VERSION : record.tool_version}}},
      {"pipeline",
       {{"name", record.pipeline_name},
        {"file", record.pipeline_file},
        {"sha256", record.pipeline_sha256},
        {"overrides", record.overrides},
        {"config_sha256", record.config_sha256},
        {"selection", record.selection}}},
      {"environment", fields(record.environment)},
      {"verdict", name_of(record.verdict)},
      {"exit_code", record.exit_code},
      {"message", or_null(record.message)},
      {"seconds", number(record.seconds)},
      {"peak_rss_bytes", record.peak_rss_bytes},
      {"peak_private_bytes", record.peak_private_bytes}};
  json["baseline"] = record.baseline ? to_json(*record.baseline) : Json(nullptr);
  if (!record.run_id.empty()) json["run_id"] = record.run_id;
  if (!record.matrix.empty()) json["matrix"] = {{"rows", record.matrix}};
  if (!record.common_name.empty()) json["matrix"]["name"] = record.common_name;
  if (record.row) json["row"] = to_json(*record.row);
  if (record.rows) {
    json["rows"] = Json::array();
    for (const auto& row : *record.rows) json["rows"].push_back(to_json(row));
  }
  json["diagnostics"] = Json::array();
  for (const auto& diagnostic : record.diagnostics) json["diagnostics"].push_back(to_json(diagnostic));
  auto text = document(json);
  text.resize(text.size() - std::string_view("\n}\n").size());
  text += ",\n  \"steps\": [";
  const char* separator = "\n    ";
  for (const auto& step : steps) {
    text.append(separator).append(step);
    separator = ",\n    ";
  }
  text += steps.empty() ? "]\n}\n" : "\n  ]\n}\n";
  return text;
}

}  // namespace lockstep
