#include <fmt/format.h>

#include "cli/pipeline_arguments.hpp"
#include "cli/terminal_io.hpp"
#include "cli/verbs.hpp"
#include "pipeline/exit_code.hpp"
#include "pipeline/render_diagnostic.hpp"
#include "report/plan.hpp"

namespace lockstep::cli {
namespace {

/// The plan with everything that is wrong with it, printed.
PlanResult checked_plan(const Arguments& arguments, PluginLoader& loader) {
  auto result = make_plan(request_of(arguments), loader);
  static_cast<void>(selection_of(arguments, result));
  print(result.diagnostics, use_colour(arguments, stderr));
  if (!result.diagnostics.empty()) print(stderr, count_text(result.diagnostics) + "\n");
  return result;
}

}  // namespace

int validate(const Arguments& arguments) {
  auto loader = loader_of(arguments);
  const auto result = checked_plan(arguments, loader);
  if (!result.ok()) return result.exit_code();
  const auto steps = result.plan.steps.size();
  if (!arguments.has("quiet"))
    print(stdout, fmt::format("{} is valid: {} step{}\n", result.plan.file, steps, steps == 1 ? "" : "s"));
  return exit_code::passed;
}

int plan(const Arguments& arguments) {
  auto loader = loader_of(arguments);
  const auto result = checked_plan(arguments, loader);
  if (!result.ok()) return result.exit_code();
  print(stdout, arguments.has("json") ? plan_json(result.plan) : plan_text(result.plan));
  return exit_code::passed;
}

}  // namespace lockstep::cli
