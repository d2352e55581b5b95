#pragma once

#include <chrono>
#include <cstdio>
#include <string>

#include "engine/executor.hpp"
#include "report/terminal.hpp"

namespace lockstep {

/// Prints the terminal report step by step as a run goes, and on a terminal one line about the step that runs.
/// The header comes with the first step, which may have added to the environment (a checkpoint's name and dtype). The
/// footer is left to the caller, who knows about the other reports.
class LOCKSTEP_API LiveReport final : public RunObserver {
 public:
  /// `live`: the terminal for the line of the running step, null for none. Both streams outlive this object.
  LiveReport(std::FILE* report, std::FILE* live, TerminalStyle style) : report_(report), live_(live), style_(style) {}

  void step_started(const RunRecord& record, std::size_t step) override;
  void step_progress(std::size_t step, std::int64_t done, std::int64_t total, std::string_view unit) override;
  void step_output(std::size_t step, std::string_view text) override;
  void step_finished(const RunRecord& record, std::size_t step) override;

 private:
  using Clock = std::chrono::steady_clock;

  void print(const std::string& text);
  void show(const std::string& progress);
  void clear();

  std::FILE* report_;
  std::FILE* live_;
  TerminalStyle style_;
  bool header_printed_ = false;
  std::string running_;
  Clock::time_point started_;
  Clock::time_point shown_;
};

}  // namespace lockstep
