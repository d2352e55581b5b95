#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <lockstep/diagnostic.hpp>

#include "engine/executor.hpp"

namespace lockstep {

/// Where a report goes: a file, which is replaced atomically; a device or a pipe, written once; "-", standard output.
class LOCKSTEP_API ReportTarget {
 public:
  explicit ReportTarget(std::string path) : path_(std::move(path)) {}

  [[nodiscard]] bool is_standard_output() const { return path_ == "-"; }
  /// True if it can be replaced again and again while the run goes on.
  [[nodiscard]] bool is_replaceable() const;
  /// What a write would fail for, as far as it can be told before the report is there: a folder (R001).
  [[nodiscard]] std::optional<Diagnostic> problem(std::string_view report) const;
  /// Writes the whole report. A diagnostic (R001) if that fails.
  [[nodiscard]] std::optional<Diagnostic> write(std::string_view report, std::string_view text) const;

 private:
  std::string path_;
};

/// Writes the run record at the start of a run and after every step, so that a reader always finds a whole document.
/// Each step is put into words once, when it is over: a run of thousands of steps stays quick.
class LOCKSTEP_API IncrementalRecord final : public RunObserver {
 public:
  explicit IncrementalRecord(ReportTarget target) : target_(std::move(target)) {}

  void run_started(const RunRecord& record) override;
  void step_finished(const RunRecord& record, std::size_t step) override;

 private:
  void update(const RunRecord& record) const;

  ReportTarget target_;
  std::vector<std::string> steps_;
};

/// The exit code and verdict of a run one of whose reports cannot be written.
LOCKSTEP_API void add_report_failure(RunRecord& record, Diagnostic diagnostic);

}  // namespace lockstep
