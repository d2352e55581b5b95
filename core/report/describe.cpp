#include "report/describe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>

#include "report/criterion_text.hpp"
#include "report/json_value.hpp"
#include "report/text.hpp"

namespace lockstep {
namespace {

std::string_view name_of(ParamKind kind) {
  switch (kind) {
    case ParamKind::boolean:
      return "boolean";
    case ParamKind::integer:
      return "integer";
    case ParamKind::real:
      return "real";
    case ParamKind::text:
      return "text";
    case ParamKind::file:
      return "file";
    case ParamKind::folder:
      return "folder";
  }
  return "text";
}

std::string type_text(const ParamInfo& parameter) {
  return parameter.list ? fmt::format("list of {}", name_of(parameter.kind)) : std::string(name_of(parameter.kind));
}

std::string range_text(const ParamInfo& parameter) {
  if (parameter.min && parameter.max) return fmt::format("{} to {}", to_text(*parameter.min), to_text(*parameter.max));
  if (parameter.min) return fmt::format("at least {}", to_text(*parameter.min));
  if (parameter.max) return fmt::format("at most {}", to_text(*parameter.max));
  return {};
}

std::string default_text(const ParamInfo& parameter) {
  if (parameter.default_value) return "default " + to_text(*parameter.default_value);
  return parameter.optional ? "optional" : "required";
}

std::string port_note(const PortInfo& port) { return port.optional ? " (optional)" : ""; }

std::string level_note(const CheckInfo& check) {
  return check.level == Level::require ? "" : std::string(lockstep::name_of(check.level));
}

/// Rows of text with columns padded to the widest.
template <std::size_t N>
std::string aligned(const std::string& title, const std::vector<std::array<std::string, N>>& rows) {
  if (rows.empty()) return {};
  std::array<std::size_t, N> widths{};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < N; ++i) widths[i] = std::max(widths[i], display_width(printable(row[i])));
  auto text = "\n" + title + "\n";
  for (const auto& row : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i < N; ++i) line += " " + padded(printable(row[i]), widths[i]) + " ";
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

/// `text` inside a cell of a Markdown table.
std::string cell(const std::string& text) {
  std::string result;
  for (const char c : printable(text)) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

template <std::size_t N>
std::string table(const std::string& title, const std::array<std::string_view, N>& heads,
                  const std::vector<std::array<std::string, N>>& rows) {
  if (rows.empty()) return {};
  auto text = fmt::format("\n## {}\n\n| {} |\n|", title, fmt::join(heads, " | "));
  for (std::size_t i = 0; i < N; ++i) text += " --- |";
  for (const auto& row : rows) {
    text += "\n|";
    for (const auto& value : row) text += value.empty() ? " |" : fmt::format(" {} |", cell(value));
  }
  return text + "\n";
}

using PortRow = std::array<std::string, 3>;
using Row = std::array<std::string, 4>;

std::vector<PortRow> port_rows(const std::vector<PortInfo>& ports, bool markdown) {
  std::vector<PortRow> rows;
  rows.reserve(ports.size());
  for (const auto& port : ports)
    rows.push_back({markdown ? "`" + port.name + "`" : port.name, port.type, port.doc + port_note(port)});
  return rows;
}

std::vector<PortRow> parameter_rows(const std::vector<ParamInfo>& parameters, bool markdown) {
  std::vector<PortRow> rows;
  rows.reserve(parameters.size());
  for (const auto& parameter : parameters)
    rows.push_back({markdown ? "`" + parameter.name + "`" : parameter.name, constraint_text(parameter), parameter.doc});
  return rows;
}

std::vector<Row> check_rows(const std::vector<CheckInfo>& checks, bool markdown) {
  std::vector<Row> rows;
  rows.reserve(checks.size());
  for (const auto& check : checks)
    rows.push_back({markdown ? "`" + check.name + "`" : check.name, criterion_text(check.criterion),
                    markdown ? std::string(lockstep::name_of(check.level)) : level_note(check), check.doc});
  return rows;
}

Json or_null(const std::optional<Value>& value) { return value ? to_json(*value) : Json(nullptr); }

Json ports_json(const std::vector<PortInfo>& ports) {
  auto json = Json::array();
  for (const auto& port : ports)
    json.push_back({{"name", port.name}, {"type", port.type}, {"optional", port.optional}, {"doc", port.doc}});
  return json;
}

}  // namespace

StepDescription description_of(const StepHandle& step) {
  const auto& declarations = step.step->declarations();
  StepDescription description{.name = step.entry->step_name, .summary = step.entry->summary};
  for (const auto* port : declarations.inputs) description.inputs.push_back(port->info());
  for (const auto* port : declarations.outputs) description.outputs.push_back(port->info());
  for (const auto* parameter : declarations.parameters) description.parameters.push_back(parameter->info());
  for (const auto* check : declarations.checks) description.checks.push_back(check->info());
  return description;
}

std::string constraint_text(const ParamInfo& parameter) {
  std::vector<std::string> parts{type_text(parameter)};
  if (const auto range = range_text(parameter); !range.empty()) parts.push_back(range);
  if (!parameter.choices.empty()) parts.push_back(fmt::format("one of {}", fmt::join(parameter.choices, ", ")));
  if (!parameter.unit.empty()) parts.push_back("in " + parameter.unit);
  parts.push_back(default_text(parameter));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string describe_text(const StepDescription& step) {
  auto text = printable(step.name) + "\n";
  if (!step.summary.empty()) text += printable(step.summary) + "\n";
  text += aligned("inputs", port_rows(step.inputs, false));
  text += aligned("outputs", port_rows(step.outputs, false));
  text += aligned("parameters", parameter_rows(step.parameters, false));
  text += aligned("checks", check_rows(step.checks, false));
  return text;
}

std::string describe_markdown(const StepDescription& step) {
  auto text = fmt::format("# {}\n", step.name);
  if (!step.summary.empty()) text += fmt::format("\n{}\n", printable(step.summary));
  text += table<3>("Inputs", {"port", "type", "meaning"}, port_rows(step.inputs, true));
  text += table<3>("Outputs", {"port", "type", "meaning"}, port_rows(step.outputs, true));
  text += table<3>("Parameters", {"name", "value", "meaning"}, parameter_rows(step.parameters, true));
  text += table<4>("Checks", {"name", "criterion", "level", "compared with"}, check_rows(step.checks, true));
  return text;
}

std::string describe_json(const StepDescription& step) {
  Json json = {{"step", step.name},
               {"summary", step.summary},
               {"inputs", ports_json(step.inputs)},
               {"outputs", ports_json(step.outputs)}};
  json["parameters"] = Json::array();
  for (const auto& parameter : step.parameters)
    json["parameters"].push_back({{"name", parameter.name},
                                  {"type", name_of(parameter.kind)},
                                  {"list", parameter.list},
                                  {"required", !parameter.default_value && !parameter.optional},
                                  {"default", or_null(parameter.default_value)},
                                  {"min", or_null(parameter.min)},
                                  {"max", or_null(parameter.max)},
                                  {"choices", parameter.choices},
                                  {"unit", parameter.unit},
                                  {"doc", parameter.doc}});
  json["checks"] = Json::array();
  for (const auto& check : step.checks)
    json["checks"].push_back({{"name", check.name},
                              {"metric", lockstep::name_of(check.criterion.metric)},
                              {"bound", to_json(check.criterion.bound)},
                              {"level", lockstep::name_of(check.level)},
                              {"doc", check.doc}});
  return document(json);
}

}  // namespace lockstep
