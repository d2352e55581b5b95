#include "cli/pipeline_arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>

#include <lockstep/diagnostic.hpp>
#include "pipeline/convert_parameter.hpp"
#include "pipeline/render_diagnostic.hpp"

namespace lockstep::cli {
namespace {

std::vector<std::filesystem::path> paths(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

/// The index of the step; a diagnostic if there is none.
std::optional<std::size_t> step_of(const Arguments::Given& given, std::string_view option, const Plan& plan,
                                   std::vector<Diagnostic>& diagnostics) {
  const auto& steps = plan.steps;
  const auto found =
      std::find_if(steps.begin(), steps.end(), [&](const PlannedStep& step) { return step.id == given.value; });
  if (found != steps.end()) return static_cast<std::size_t>(found - steps.begin());
  if (steps.empty()) return std::nullopt;  // the file could not be read far enough to know its steps
  std::vector<std::string> ids;
  ids.reserve(steps.size());
  for (const auto& step : steps) ids.push_back(step.id);
  diagnostics.push_back(
      {.code = "C009",
       .message = fmt::format("'--{}' names step '{}', which the pipeline does not have", option, given.value),
       .location = given.location,
       .did_you_mean = did_you_mean(given.value, ids),
       .help = fmt::format("steps: {}", fmt::join(ids, ", "))});
  return std::nullopt;
}

}  // namespace

PipelineRequest request_of(const Arguments& arguments) {
  const auto shard = arguments.option("shard");
  return {.file = arguments.positional(0).value,
          .configs = paths(arguments.values("config")),
          .sets = arguments.values("set"),
          .skips = arguments.values("skip"),
          .rows = arguments.values("row"),
          .shard = shard ? std::optional(shard->value) : std::nullopt};
}

PluginLoader loader_of(const Arguments& arguments) {
  CommandLineError missing;
  for (const auto& folder : arguments.all("plugin-path")) {
    const auto problem = path_problem(folder.value, ParamKind::folder);
    if (problem.empty()) continue;
    missing.diagnostics.push_back(
        {.code = "C015",
         .message = fmt::format("plugin folder {} {}", in_quotes(folder.value), problem),
         .location = folder.location,
         .help =
             "correct the path, or build the plugins first; `lockstep explain L001` shows where plugins are searched"});
  }
  if (!missing.diagnostics.empty()) throw missing;
  return PluginLoader(PluginLoader::default_folders(paths(arguments.values("plugin-path"))));
}

RunOptions selection_of(const Arguments& arguments, const Plan& plan, std::vector<Diagnostic>& diagnostics) {
  RunOptions options;
  for (const auto& given : arguments.all("only")) {
    if (step_of(given, "only", plan, diagnostics)) options.only.push_back(given.value);
  }
  std::optional<std::size_t> first;
  std::optional<std::size_t> last;
  const auto from = arguments.option("from");
  const auto to = arguments.option("to");
  if (from && (first = step_of(*from, "from", plan, diagnostics))) options.from = from->value;
  if (to && (last = step_of(*to, "to", plan, diagnostics))) options.to = to->value;
  if (first && last && *first > *last)
    diagnostics.push_back(
        {.code = "C010",
         .message = fmt::format("'--from {}' comes after '--to {}', so no step is left", from->value, to->value),
         .location = from->location,
         .help = fmt::format("swap them: --from {} --to {}", to->value, from->value)});
  return options;
}

PlanVisitor selection_check(const Arguments& arguments) {
  return [&arguments](const Plan& plan, std::vector<Diagnostic>& diagnostics) {
    static_cast<void>(selection_of(arguments, plan, diagnostics));
  };
}

}  // namespace lockstep::cli
