#include <fmt/format.h>
#include <algorithm>
#include <filesystem>

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
  auto result = plan_of(arguments, loader, rows);
  print(result.diagnostics, use_colour(arguments, stderr));
  if (!result.diagnostics.empty()) print(stderr, count_text(result.diagnostics) + "\n");
  return result;
}

bool has_check(const PlannedStep& step) {
  if (!step.handle) return false;
  return std::ranges::any_of(step.handle->step->declarations().checks,
                             [](const Check* check) { return check->settings().level != Level::off; });
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

int validate(const Arguments& arguments) {
  auto loader = loader_of(arguments);
  const auto result = checked_plan(arguments, loader);
  if (!result.ok()) return result.exit_code();
  if (!std::ranges::any_of(result.plan.steps, has_check))
    print({{.severity = Severity::warning,
            .code = "C018",
            .message = fmt::format("no step of {} has a check: a run ends with exit code 0 once they all ran",
                                   in_quotes(result.plan.file)),
            .help = "add a step that compares, for example common.compare_tensors"}},
          use_colour(arguments, stderr));
  if (arguments.has("quiet")) return exit_code::passed;
  const bool has_matrix = !result.plan.all_rows.empty();
  print(stdout, fmt::format("{} is valid: {}{}\n", result.plan.file,
                            has_matrix ? counted(result.rows.size(), "row") + ", " : "",
                            counted(result.plan.steps.size(), "step")));
  return exit_code::passed;
}

namespace {

/// More jobs than this GitHub does not take. Source: docs.github.com, "Usage limits" of workflows.
constexpr std::size_t most_jobs = 256;

int show_github(const Arguments& arguments, const PlanResult& result) {
  const auto refuse = [&](std::string message, std::string help) {
    print({{.code = "C017",
            .message = std::move(message),
            .location = arguments.option("format")->location,
            .help = std::move(help)}},
          use_colour(arguments, stderr));
    return exit_code::invalid;
  };
  if (result.plan.all_rows.empty())
    return refuse("the pipeline has no [matrix], so there are no jobs to make",
                  "run it in one job: lockstep run PIPELINE");
  if (result.rows.empty())
    return refuse("no row is selected, and GitHub takes no matrix without jobs", "choose a shard that has rows");
  if (result.rows.size() > most_jobs)
    return refuse(fmt::format("{} rows are more than the {} jobs that GitHub takes", result.rows.size(), most_jobs),
                  "choose rows with --row or --shard, or make a job for each shard: docs/ci.md");
  for (const auto& [axis, value] : result.rows.front().values)
    if (axis == "row")
      return refuse("the axis 'row' has the key that the name of a row has in a job", "give the axis another name");
  print(stdout, rows_github(result.rows));
  return exit_code::passed;
}

/// This command line as `run` would have it, from any working folder.
std::vector<std::string> command_of(const Arguments& arguments) {
  namespace fs = std::filesystem;
  const auto absolute = [](const std::string& path) { return fs::absolute(path).lexically_normal().string(); };
  std::vector<std::string> words{fs::read_symlink("/proc/self/exe").string(), "run",
                                 absolute(arguments.positional(0).value)};
  for (const auto& folder : arguments.values("plugin-path"))
    words.insert(words.end(), {"--plugin-path", absolute(folder)});
  for (const auto& file : arguments.values("config")) words.insert(words.end(), {"--config", absolute(file)});
  for (const auto* option : {"set", "only", "from", "to", "skip"})
    for (const auto& value : arguments.values(option)) words.push_back(fmt::format("--{}={}", option, value));
  for (const auto& option : arguments.values("run-option")) words.push_back(option);
  return words;
}

int show_ctest(const Arguments& arguments, const PlanResult& result) {
  if (!result.plan.all_rows.empty() && result.rows.empty()) return exit_code::passed;  // a shard without rows
  const auto prefix = arguments.option("prefix");
  print(stdout,
        rows_ctest(result.rows, prefix ? prefix->value : std::filesystem::path(result.plan.file).stem().string(),
                   command_of(arguments)));
  return exit_code::passed;
}

}  // namespace

int plan(const Arguments& arguments) {
  auto loader = loader_of(arguments);
  const auto format = arguments.option("format") ? arguments.option("format")->value : "text";
  const bool json = arguments.has("json") || format == "json";
  const bool all = json || arguments.has("row");
  std::vector<Plan> rows;
  const auto result = checked_plan(arguments, loader, all ? &rows : nullptr);
  if (!result.ok()) return result.exit_code();
  if (format == "github-matrix") return show_github(arguments, result);
  if (format == "ctest") return show_ctest(arguments, result);
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
