#include "workspace.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "pipeline/render_diagnostic.hpp"

namespace lockstep::test {

namespace fs = std::filesystem;

Workspace::Workspace() : before_(fs::current_path()) { fs::current_path(folder_.path()); }

Workspace::~Workspace() {
  std::error_code ignored;
  fs::current_path(before_, ignored);
}

std::string Workspace::write(const std::string& name, const std::string& content) {
  if (const auto folder = fs::path(name).parent_path(); !folder.empty()) fs::create_directories(folder);
  std::ofstream(name, std::ios::binary) << content;
  return name;
}

PlanResult plan(const std::string& toml, const Arguments& arguments) {
  PipelineRequest request{.file = Workspace::write("pipeline.toml", toml),
                          .configs = {},
                          .sets = arguments.sets,
                          .skips = arguments.skips,
                          .rows = arguments.rows,
                          .shard = arguments.shard};
  for (const auto& overlay : arguments.overlays) {
    request.configs.emplace_back(
        Workspace::write("overlay" + std::to_string(request.configs.size() + 1) + ".toml", overlay));
  }
  FakeCatalog catalog;
  return make_plan(request, catalog);
}

std::vector<std::string> findings(const PlanResult& result) {
  std::vector<std::string> found;
  for (const auto& diagnostic : result.diagnostics) {
    auto place = diagnostic.location.to_string();
    if (place.starts_with("pipeline.toml:")) place = place.substr(14);
    found.push_back(diagnostic.code + " " + place);
  }
  return found;
}

std::vector<std::string> findings(const std::string& toml, const Arguments& arguments) {
  return findings(plan(toml, arguments));
}

std::string rendered(const PlanResult& result) {
  std::string text;
  for (const auto& diagnostic : result.diagnostics) text += render(diagnostic, false);
  return text;
}

namespace {

const PlannedStep& step_of(const PlanResult& result, const std::string& id) {
  const auto found = std::ranges::find(result.plan.steps, id, &PlannedStep::id);
  if (found == result.plan.steps.end()) throw std::runtime_error("no step " + id);
  return *found;
}

}  // namespace

const PlannedParameter& parameter(const PlanResult& result, const std::string& id, const std::string& name) {
  const auto& parameters = step_of(result, id).parameters;
  const auto found = std::ranges::find(parameters, name, &PlannedParameter::name);
  if (found == parameters.end()) throw std::runtime_error("no parameter " + name);
  return *found;
}

const CheckSettings& check(const PlanResult& result, const std::string& id, const std::string& name) {
  for (const auto* each : step_of(result, id).handle->step->declarations().checks) {
    if (each->info().name == name) return each->settings();
  }
  throw std::runtime_error("no check " + name);
}

}  // namespace lockstep::test
