#include <fmt/format.h>
#include <cstdio>

#include "cli/baseline_arguments.hpp"
#include "cli/crash_guard.hpp"
#include "cli/exit_guard.hpp"
#include "cli/interrupt.hpp"
#include "cli/pipeline_arguments.hpp"
#include "cli/reports.hpp"
#include "cli/row_files.hpp"
#include "cli/rows.hpp"
#include "cli/run_id.hpp"
#include "cli/standard_output.hpp"
#include "cli/terminal_io.hpp"
#include "cli/verbs.hpp"
#include "pipeline/exit_code.hpp"
#include "pipeline/render_diagnostic.hpp"
#include "report/live.hpp"
#include "report/output.hpp"

namespace lockstep::cli {
namespace {

int end_invalid(const Reports& reports, const PlanResult& result, bool colour) {
  auto record = invalid_record(result, result.exit_code());
  reports.write(record);
  print(record.diagnostics, colour);
  print(stderr, fmt::format("{}; nothing ran\n", count_text(record.diagnostics)));
  return record.exit_code;
}

/// To standard error, or where the report goes if that alone is a terminal.
LiveReport::Running running_line(std::FILE* report, Detail detail) {
  if (detail == Detail::quiet) return {};
  for (auto* stream : {stderr, report}) {
    if (is_terminal(stream)) return {.stream = stream, .is_terminal = true};
  }
  return {.stream = stderr};
}

}  // namespace

int run(const Arguments& arguments) {
  ExitGuard exit_guard;
  Reports reports(arguments);
  const auto jobs = jobs_of(arguments);
  auto loader = loader_of(arguments);
  const auto request = request_of(arguments);
  auto result = plan_of(arguments, loader);
  const BaselineArguments baseline(arguments, result);
  auto inputs = request.configs;
  inputs.push_back(request.file);
  if (baseline.file()) inputs.push_back(*baseline.file());
  for (auto& clash : reports.drop_clashes(inputs)) result.diagnostics.push_back(std::move(clash));
  for (auto& problem : reports.drop_unwritable()) result.diagnostics.push_back(std::move(problem));
  if (result.rows.size() > 1) {
    for (auto& clash : check_row_files(arguments, result.rows, inputs)) result.diagnostics.push_back(std::move(clash));
  }
  const bool colour_of_errors = use_colour(arguments, stderr);
  if (!result.ok()) return end_invalid(reports, result, colour_of_errors);
  print(result.diagnostics, colour_of_errors);
  if (!result.plan.all_rows.empty() && result.rows.size() != 1)
    return run_rows(arguments, result, reports, baseline, jobs);

  auto options = selection_of(arguments);
  options.fail_fast = arguments.has("fail-fast");
  if (const auto dump = arguments.option("dump")) options.dump = dump->value;
  options.interrupted = &catch_interrupts();
  options.worker = {"/proc/self/exe", std::string(worker_word)};  // this very program, also if its file was replaced

  auto* report = reports.use_standard_output() ? stderr : stdout;
  const TerminalStyle style{use_colour(arguments, report), detail_of(arguments)};
  LiveReport live(report, running_line(report, style.detail), style);
  std::optional<IncrementalRecord> incremental;
  CrashGuard crash_guard;
  std::vector<RunObserver*> observers{&exit_guard, &crash_guard, &live};
  if (const auto* target = reports.record()) observers.push_back(&incremental.emplace(*target));

  std::optional<StandardOutputKept> kept;
  if (reports.use_standard_output()) kept.emplace();
  auto record = execute(result.plan, options, observers);
  kept.reset();
  const auto findings = result.diagnostics.size();
  record.diagnostics.insert(record.diagnostics.begin(), result.diagnostics.begin(), result.diagnostics.end());
  baseline.apply(record);
  if (record.row && result.plan.all_rows.size() == 1 && record.run_id.empty()) baseline.apply_to_matrix(record);
  print(report, terminal_footer(record, style));
  if (auto failure = printing_failure(report)) add_report_failure(record, std::move(*failure));
  reports.write(record);
  print({record.diagnostics.begin() + static_cast<std::ptrdiff_t>(findings), record.diagnostics.end()},
        colour_of_errors);
  return record.exit_code;
}

void record_invalid_command_line(const CommandLine& line, const std::vector<Diagnostic>& diagnostics) {
  PlanResult result;
  result.plan.run_id = given_run_id();
  result.diagnostics = diagnostics;
  auto record = invalid_record(result, exit_code::invalid);
  Reports(line).write(record);
}

}  // namespace lockstep::cli
