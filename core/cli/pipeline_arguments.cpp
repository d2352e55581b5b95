#include "cli/pipeline_arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>

#include <lockstep/diagnostic.hpp>
#include "cli/run_id.hpp"
#include "pipeline/convert_parameter.hpp"
#include "pipeline/render_diagnostic.hpp"

namespace lockstep::cli {
namespace {

std::vector<std::filesystem::path> paths(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

/// Steps that `--only`, `--from` and `--to` name and no row of the pipeline has.
void check_steps(const Arguments& arguments, PlanResult& result) {
  const auto& ids = result.step_ids;
  if (ids.empty()) return;  // the file could not be read far enough to know its steps
  for (const auto* option : {"only", "from", "to"}) {
    for (const auto& given : arguments.all(option)) {
      if (std::ranges::find(ids, given.value) != ids.end()) continue;
      constexpr std::size_t most_shown = 30;
      const std::vector<std::string> shown(ids.begin(),
                                           ids.begin() + static_cast<std::ptrdiff_t>(std::min(ids.size(), most_shown)));
      result.diagnostics.push_back(
          {.code = "C009",
           .message = fmt::format("'--{}' names step '{}', which the pipeline does not have", option, given.value),
           .location = given.location,
           .did_you_mean = did_you_mean(given.value, ids),
           .help = fmt::format("steps: {}{}", fmt::join(shown, ", "), shown.size() < ids.size() ? ", …" : "")});
    }
  }
}

/// `--from` behind `--to` in one row.
void check_order(const Arguments& arguments, const Plan& plan, std::vector<Diagnostic>& diagnostics) {
  const auto from = arguments.option("from");
  const auto to = arguments.option("to");
  if (!from || !to) return;
  const auto first = std::ranges::find(plan.steps, from->value, &PlannedStep::id);
  const auto last = std::ranges::find(plan.steps, to->value, &PlannedStep::id);
  if (first == plan.steps.end() || last == plan.steps.end() || first <= last) return;
  diagnostics.push_back(
      {.code = "C010",
       .message = fmt::format("'--from {}' comes after '--to {}', so no step is left", from->value, to->value),
       .location = from->location,
       .help = fmt::format("swap them: --from {} --to {}", to->value, from->value)});
}

/// Rows of which each lacks a step that was asked for. A shard may get none of those that have them.
void check_rows_left(const Arguments& arguments, PlanResult& result) {
  const bool may_be_empty = result.plan.all_rows.empty() || arguments.has("shard");
  if (may_be_empty || !result.rows.empty() || !result.ok()) return;
  for (const auto* option : {"only", "from", "to"}) {
    const auto given = arguments.option(option);
    if (!given) continue;
    result.diagnostics.push_back(
        {.code = "C010",
         .message = fmt::format("no selected row has a step that '--{} {}' leaves to be scored", option, given->value),
         .location = given->location,
         .help = "other rows of the matrix have it: choose them with --row"});
    return;
  }
}

}  // namespace

PipelineRequest request_of(const Arguments& arguments) {
  const auto text_of = [&arguments](std::string_view option) {
    const auto given = arguments.option(option);
    return given ? std::optional(given->value) : std::nullopt;
  };
  return {.file = arguments.positional(0).value,
          .configs = paths(arguments.values("config")),
          .sets = arguments.values("set"),
          .skips = arguments.values("skip"),
          .rows = arguments.values("row"),
          .shard = text_of("shard"),
          .only = arguments.values("only"),
          .from = text_of("from"),
          .to = text_of("to"),
          .run_id = given_run_id()};
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

RunOptions selection_of(const Arguments& arguments) {
  const auto request = request_of(arguments);
  RunOptions options;
  options.only = request.only;
  options.from = request.from;
  options.to = request.to;
  return options;
}

PlanResult plan_of(const Arguments& arguments, PluginLoader& loader, std::vector<Plan>* rows) {
  auto result = make_plan(request_of(arguments), loader, [&](const Plan& plan, std::vector<Diagnostic>& diagnostics) {
    check_order(arguments, plan, diagnostics);
    if (rows != nullptr) rows->push_back(plan);
  });
  check_steps(arguments, result);
  check_rows_left(arguments, result);
  return result;
}

}  // namespace lockstep::cli
