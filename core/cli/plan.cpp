#include <fmt/format.h>

#include "cli/pipeline_arguments.hpp"
#include "cli/terminal_io.hpp"
#include "cli/verbs.hpp"
#include "pipeline/exit_code.hpp"
#include "pipeline/render_diagnostic.hpp"
#include "report/plan.hpp"

namespace lockstep::cli {
namespace {

/// The plan with everything that is wrong with it, printed; the plans of all selected rows go to `rows`, unless null.
PlanResult checked_plan(const Arguments& arguments, PluginLoader& loader, std::vector<Plan>* rows = nullptr) {
  const auto check = selection_check(arguments);
  auto result = make_plan(request_of(arguments), loader, [&](const Plan& plan, std::vector<Diagnostic>& diagnostics) {
    check(plan, diagnostics);
    if (rows != nullptr) rows->push_back(plan);
  });
  print(result.diagnostics, use_colour(arguments, stderr));
  if (!result.diagnostics.empty()) print(stderr, count_text(result.diagnostics) + "\n");
  return result;
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

int validate(const Arguments& arguments) {
  auto loader = loader_of(arguments);
  const auto result = checked_plan(arguments, loader);
  if (!result.ok()) return result.exit_code();
  if (arguments.has("quiet")) return exit_code::passed;
  const bool has_matrix = !result.plan.all_rows.empty();
  print(stdout, fmt::format("{} is valid: {}{}\n", result.plan.file,
                            has_matrix ? counted(result.rows.size(), "row") + ", " : "",
                            counted(result.plan.steps.size(), "step")));
  return exit_code::passed;
}

int plan(const Arguments& arguments) {
  auto loader = loader_of(arguments);
  const bool json = arguments.has("json");
  const bool all = json || arguments.has("row");
  std::vector<Plan> rows;
  const auto result = checked_plan(arguments, loader, all ? &rows : nullptr);
  if (!result.ok()) return result.exit_code();
  const bool one = result.plan.all_rows.empty() || result.rows.size() == 1;
  if (json) {
    print(stdout, one ? plan_json(result.plan) : plan_json(result.plan, rows));
  } else if (one) {
    print(stdout, plan_text(result.plan));
  } else {
    print(stdout, rows_text(result.rows, result.plan.all_rows.size()));
    if (!all && !result.rows.empty()) print(stdout, "\n" + plan_text(result.plan));
    for (const auto& row : rows) print(stdout, "\n" + plan_text(row));
  }
  return exit_code::passed;
}

}  // namespace lockstep::cli
