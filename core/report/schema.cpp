#include "report/schema.hpp"

#include <fmt/format.h>
#include <lockstep/check.hpp>

#include "report/criterion_text.hpp"
#include "report/json_value.hpp"

namespace lockstep {
namespace {

constexpr auto identifier = "^[A-Za-z_][A-Za-z0-9_-]*$";

Json defined(std::string_view name) { return {{"$ref", fmt::format("#/definitions/{}", name)}}; }

/// A text with a variable in it stands for a value of any type.
Json or_variable(Json value) { return {{"anyOf", {std::move(value), defined("variable")}}}; }

Json described(Json schema, std::string_view description) {
  if (!description.empty()) schema["description"] = description;
  return schema;
}

Json table(Json properties, std::string_view description = {}) {
  return described({{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}},
                   description);
}

template <class... Names>
Json one_of(Names... names) {
  return {{"enum", Json::array({names...})}};
}

Json element_of(const ParamInfo& parameter) {
  Json schema;
  switch (parameter.kind) {
    case ParamKind::boolean:
      schema = {{"type", "boolean"}};
      break;
    case ParamKind::integer:
      schema = {{"type", "integer"}};
      break;
    case ParamKind::real:
      schema = {{"type", "number"}};
      break;
    case ParamKind::text:
    case ParamKind::file:
    case ParamKind::folder:
      schema = {{"type", "string"}};
      break;
  }
  if (parameter.min) schema["minimum"] = to_json(*parameter.min);
  if (parameter.max) schema["maximum"] = to_json(*parameter.max);
  if (!parameter.choices.empty()) schema["enum"] = parameter.choices;
  return or_variable(std::move(schema));
}

Json schema_of(const ParamInfo& parameter) {
  auto schema = element_of(parameter);
  if (parameter.list) schema = or_variable({{"type", "array"}, {"items", std::move(schema)}});
  schema["description"] = parameter.doc + " (" + constraint_text(parameter) + ")";
  if (parameter.default_value) schema["default"] = to_json(*parameter.default_value);
  return schema;
}

Json with_of(const StepDescription& step) {
  auto properties = Json::object();
  for (const auto& parameter : step.parameters) properties[parameter.name] = schema_of(parameter);
  return table(std::move(properties), "parameters of " + step.name);
}

Json inputs_of(const StepDescription& step) {
  auto properties = Json::object();
  for (const auto& port : step.inputs)
    properties[port.name] = {{"type", "string"}, {"description", port.doc + " (" + port.type + "), \"step.output\""}};
  return table(std::move(properties), "where the inputs come from; what is not written is found by name and type");
}

/// The keys of a check, by its metric.
Json check_keys(Metric metric) {
  Json keys = {{"level", or_variable(one_of("require", "inform", "off"))},
               {"on_vacuous", or_variable(one_of("fail", "warn", "allow"))},
               {"non_finite", or_variable(one_of("fail", "match"))}};
  for (const auto key : keys_of(metric)) keys[std::string(key)] = or_variable({{"type", "number"}});
  return table(std::move(keys));
}

std::string definition_of(Metric metric) { return fmt::format("check_{}", name_of(metric)); }

Json checks_of(const StepDescription& step) {
  auto properties = Json::object();
  for (const auto& check : step.checks) {
    properties[check.name] = {{"description", check.doc + ": " + criterion_text(check.criterion)},
                              {"allOf", {defined(definition_of(check.criterion.metric))}}};
  }
  return table(std::move(properties), "bounds and levels");
}

Json definitions(const std::vector<StepDescription>& steps) {
  Json result = {{"variable", {{"type", "string"}, {"pattern", R"(\$\{)"}}}};
  for (const auto& step : steps) {
    for (const auto& check : step.checks)
      result[definition_of(check.criterion.metric)] = check_keys(check.criterion.metric);
  }
  return result;
}

Json any_table() { return {{"type", "object"}}; }

Json step_keys(const std::vector<StepDescription>& steps) {
  auto names = Json::array();
  for (const auto& step : steps) names.push_back(step.name);
  const Json text = {{"type", "string"}};
  return {
      {"uses", {{"description", "which step runs: family.name"}, {"anyOf", {{{"enum", std::move(names)}}, text}}}},
      {"with", described(any_table(), "parameters")},
      {"inputs", described(any_table(), "where the inputs come from: port = \"step.output\"")},
      {"checks", described(any_table(), "bounds and levels of the step's checks")},
      {"plugin", described(text, "the file of the plugin, if it lies outside the folders that are searched")},
      {"skip", described(text, "why the step is not run; empty: it runs")},
      {"isolation", described(or_variable(one_of("none", "process")), "process: a crash ends the step, not the run")},
      {"time_limit", described(or_variable({{"type", "number"}, {"exclusiveMinimum", 0}}),
                               "seconds after which an isolated step is ended")}};
}

/// `with`, `inputs` and `checks` of each step that is known, chosen by `uses`.
Json step_schema(Json keys, const std::vector<StepDescription>& steps) {
  auto schema = table(std::move(keys));
  for (const auto& step : steps) {
    schema["allOf"].push_back(
        {{"if", {{"properties", {{"uses", {{"const", step.name}}}}}, {"required", {"uses"}}}},
         {"then",
          {{"properties", {{"with", with_of(step)}, {"inputs", inputs_of(step)}, {"checks", checks_of(step)}}}}}});
  }
  return schema;
}

Json environment_schema() {
  return table({{"threads", or_variable({{"anyOf", {{{"type", "integer"}, {"minimum", 1}}, {{"const", "auto"}}}}})},
                {"seed", or_variable({{"type", "integer"}, {"minimum", 0}})},
                {"kernels", or_variable({{"enum", {"auto", "torch"}}})}},
               "recorded in every report");
}

Json vars_schema() {
  return {{"type", "object"},
          {"description", "variables: ${name} in a value; --set name=value overrides"},
          {"propertyNames", {{"pattern", identifier}}},
          {"properties",
           {{"required",
             {{"description", "variables without a default"},
              {"type", "array"},
              {"items", {{"type", "string"}, {"pattern", identifier}}}}}}}};
}

/// Axes, and the rows that are taken out and added.
Json matrix_schema() {
  const Json scalar = {{"type", {"string", "number", "boolean"}}};
  const Json entries = {{"type", "array"},
                        {"items", {{"type", "object"}, {"minProperties", 1}, {"additionalProperties", scalar}}}};
  return {{"type", "object"},
          {"description", "runs the pipeline for every combination of values; ${matrix.axis} is the row's"},
          {"propertyNames", {{"pattern", identifier}}},
          {"properties",
           {{"include", described(entries, "rows to add; each names every axis")},
            {"exclude", described(entries, "rows to take out: all that have these values")}}},
          {"additionalProperties",
           {{"anyOf", {scalar, {{"type", "array"}, {"minItems", 1}, {"uniqueItems", true}, {"items", scalar}}}}}}};
}

}  // namespace

std::string schema_text(SchemaOf file, const std::vector<StepDescription>& steps) {
  const bool overlay = file == SchemaOf::overlay;
  Json properties = {{"schema", {{"description", "version of the file format"}, {"const", 1}}}};
  if (!overlay) {
    properties["name"] = {{"type", "string"}, {"description", "what reports call the pipeline"}};
    properties["description"] = {{"type", "string"}};
  }
  properties["vars"] = vars_schema();
  properties["environment"] = environment_schema();
  properties["matrix"] = matrix_schema();
  auto keys = step_keys(steps);
  if (overlay) {
    properties["step"] = {{"type", "object"},
                          {"description", "by id: [step.<id>]"},
                          {"propertyNames", {{"pattern", identifier}}},
                          {"additionalProperties", step_schema(std::move(keys), steps)}};
  } else {
    keys["id"] =
        described(or_variable({{"type", "string"}, {"pattern", identifier}}), "the step's name in this pipeline");
    auto step = step_schema(std::move(keys), steps);
    step["required"] = {"id"};  // `uses` may come from an overlay
    properties["step"] = {{"type", "array"}, {"minItems", 1}, {"items", std::move(step)}};
  }
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                 {"title", overlay ? "Lockstep overlay" : "Lockstep pipeline"}};
  schema.update(table(std::move(properties)));
  schema["definitions"] = definitions(steps);
  if (!overlay) schema["required"] = {"schema", "step"};
  return document(schema);
}

}  // namespace lockstep
