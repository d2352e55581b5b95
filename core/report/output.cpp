#include "report/output.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "pipeline/exit_code.hpp"
#include "report/json.hpp"
#include "tensor/atomic_file.hpp"

namespace lockstep {
namespace {

/// `reason` ends in what the operating system says; it may begin like the file writer's own messages.
Diagnostic cannot_write(std::string_view report, std::string_view reason) {
  constexpr std::string_view prefix = "cannot write ";
  if (reason.starts_with(prefix)) reason.remove_prefix(prefix.size());
  return {.code = "R001",
          .message = fmt::format("the {} cannot be written to {}", report, reason),
          .help = "name a file in a folder that exists and can be written to, or '-' for standard output"};
}

}  // namespace

bool ReportTarget::is_replaceable() const {
  if (is_standard_output()) return false;
  std::error_code error;
  const auto status = std::filesystem::status(path_, error);
  return !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
}

std::optional<Diagnostic> ReportTarget::problem(std::string_view report) const {
  if (is_standard_output()) return std::nullopt;
  if (const int error = write_error(path_); error != 0)
    return cannot_write(report, fmt::format("{}: {}", path_, std::strerror(error)));
  return std::nullopt;
}

std::optional<Diagnostic> ReportTarget::write(std::string_view report, std::string_view text) const {
  if (is_standard_output()) {
    errno = 0;
    const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (whole) return std::nullopt;
    return cannot_write(report, fmt::format("standard output: {}", std::strerror(errno)));
  }
  try {
    write_file(path_, text);
    return std::nullopt;
  } catch (const std::exception& error) {
    return cannot_write(report, error.what());
  }
}

void IncrementalRecord::run_started(const RunRecord& record) {
  steps_.clear();
  for (const auto& step : record.steps) steps_.push_back(step_to_json(step));
  update(record);
}

void IncrementalRecord::step_finished(const RunRecord& record, std::size_t step) {
  steps_[step] = step_to_json(record.steps[step]);
  // A step that did not run changes nothing that a reader waits for; after Ctrl-C there may be thousands of them.
  if (record.steps[step].status != StepStatus::skipped) update(record);
}

void IncrementalRecord::update(const RunRecord& record) const {
  if (!target_.is_replaceable()) return;
  // A failure here shows again at the end, where it is reported; the run itself must not suffer.
  static_cast<void>(target_.write("run record", to_json(record, steps_)));
}

void add_report_failure(RunRecord& record, Diagnostic diagnostic) {
  record.diagnostics.push_back(std::move(diagnostic));
  const bool outranked = record.verdict == RunVerdict::invalid || record.exit_code >= exit_code::error;
  if (outranked) return;
  record.exit_code = exit_code::error;
  record.verdict = RunVerdict::error;
}

}  // namespace lockstep
