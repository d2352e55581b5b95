#include <algorithm>
#include <exception>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lockstep/diagnostic.hpp>
#include "pipeline/binding.hpp"
#include "pipeline/convert_parameter.hpp"
#include "pipeline/render_diagnostic.hpp"

namespace lockstep {
namespace {

std::vector<std::string> names_of(const std::vector<ParamBase*>& parameters) {
  std::vector<std::string> names;
  names.reserve(parameters.size());
  for (const auto* parameter : parameters) names.push_back(parameter->info().name);
  return names;
}

/// Returns the parameter that was meant, "" if none is near.
std::string report_unknown(const StepSource& source, const std::string& name, const Node::Member& member,
                           const std::vector<std::string>& names, Findings& findings) {
  auto& error =
      findings.error("P014", member.key, fmt::format("{} has no parameter {}", source.label, in_quotes(name)));
  error.did_you_mean = did_you_mean(name, names);
  error.help = names.empty() ? fmt::format("{} takes no parameters", in_quotes(source.uses))
                             : fmt::format("parameters of {}: {}", in_quotes(source.uses), fmt::join(names, ", "));
  return error.did_you_mean;
}

void report_missing(const StepSource& source, const ParamInfo& info, Findings& findings) {
  auto& error =
      findings.error("P015", source.location, fmt::format("{} needs parameter {}", source.label, in_quotes(info.name)));
  const auto range = range_text(info);
  error.help =
      fmt::format("with.{} is {}{}{}: {}", info.name, kind_text(info), range.empty() ? "" : ", ", range, info.doc);
}

/// The default of a path parameter is a path too.
bool default_exists(const StepSource& source, const ParamInfo& info, Findings& findings) {
  if (info.kind != ParamKind::file && info.kind != ParamKind::folder) return true;
  std::vector<std::string> paths;
  if (const auto* text = std::get_if<std::string>(&info.default_value->data)) paths.push_back(*text);
  if (const auto* list = std::get_if<Value::Array>(&info.default_value->data)) {
    for (const auto& entry : *list) paths.push_back(std::get<std::string>(entry.data));
  }
  for (const auto& path : paths) {
    const auto problem = path.empty() ? std::string{} : path_problem(path, info.kind);
    if (problem.empty()) continue;
    findings
        .error("P019", source.location,
               fmt::format("parameter {} of {}: the default {} {}", in_quotes(info.name), source.label, in_quotes(path),
                           problem))
        .help = fmt::format("set with.{}", info.name);
    return false;
  }
  return true;
}

bool bind_one(const StepSource& source, ParamBase& parameter, const Node* given, std::vector<PlannedParameter>& planned,
              Findings& findings) {
  const auto& info = parameter.info();
  if (given != nullptr && given->reported()) return false;
  if (given != nullptr && !is_not_given(*given, info)) {
    auto value = convert_parameter(*given, info, source.label, findings);
    if (!value) return false;
    parameter.assign(*value, given->location);
    planned.push_back({info.name, std::move(*value), given->location.to_string()});
    return true;
  }
  if (!info.default_value && !info.optional) {
    report_missing(source, info, findings);
    return false;
  }
  planned.push_back({info.name, info.default_value.value_or(Value{}), "default"});
  return !info.default_value || default_exists(source, info, findings);
}

}  // namespace

bool bind_parameters(const StepSource& source, Step& step, std::vector<PlannedParameter>& planned, Findings& findings) {
  const auto& parameters = step.declarations().parameters;
  if (source.with != nullptr && source.with->reported()) return false;
  if (source.with != nullptr && source.with->table() == nullptr) {
    findings.error("P008", *source.with,
                   fmt::format("'with' of {} is {}, expected a table", source.label, kind_text(*source.with)));
    return false;
  }
  bool good = true;
  std::set<std::string> misspelt;
  if (source.with != nullptr) {
    const auto names = names_of(parameters);
    for (const auto& [name, member] : *source.with->table()) {
      if (std::ranges::find(names, name) != names.end()) continue;
      misspelt.insert(report_unknown(source, name, member, names, findings));
      good = false;
    }
  }
  for (auto* parameter : parameters) {
    const auto& name = parameter->info().name;
    const auto* member = source.with != nullptr ? source.with->find(name) : nullptr;
    if (member == nullptr && misspelt.contains(name)) continue;  // given, under a name that was reported
    if (!bind_one(source, *parameter, member != nullptr ? &member->value : nullptr, planned, findings)) good = false;
  }
  return good;
}

void check_rules(const StepSource& source, const Step& step, Findings& findings) {
  Rules rules;
  std::string failure;
  try {
    step.validate(rules);
  } catch (const std::exception& error) {
    failure = error.what();
  } catch (...) {
    failure = "an exception that is not derived from std::exception";
  }
  for (const auto& finding : rules.findings()) {
    const auto& place = finding.parameter->location();
    findings.error("P020", place.source ? place : source.location, fmt::format("{}: {}", source.label, finding.message))
        .help = finding.help;
  }
  if (failure.empty()) return;
  findings
      .error("P021", source.location,
             fmt::format("{}: the parameter rules of {} failed: {}", source.label, in_quotes(source.uses), failure))
      .help = "this is a mistake in the step's validate, not in the pipeline";
}

}  // namespace lockstep
