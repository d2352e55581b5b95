#pragma once

#include "cli/baseline_arguments.hpp"
#include "cli/command_line.hpp"
#include "cli/reports.hpp"
#include "pipeline/plan.hpp"

namespace lockstep::cli {

/// Runs each selected row of a matrix in a process of its own, `--jobs` at once, and writes a summary. With `--json
/// F.json` each row's record lies beside the summary as `F.<row>.json`; other reports alike; `--dump DIR` gives each
/// row a folder in DIR. Returns the exit code: the worst row's.
[[nodiscard]] int run_rows(const Arguments& arguments, const PlanResult& plan, const Reports& reports,
                           const BaselineArguments& baseline, std::size_t jobs);

/// `--jobs`, 1 without it. Throws CommandLineError.
[[nodiscard]] std::size_t jobs_of(const Arguments& arguments);

}  // namespace lockstep::cli
