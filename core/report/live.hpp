#pragma once

#include <chrono>
#include <cstdio>
#include <string>

#include "engine/executor.hpp"
#include "report/step_progress.hpp"
#include "report/terminal.hpp"

namespace lockstep {

/// Prints the terminal report step by step as a run goes. About the step that runs it says how far it is and what
/// remains: on a terminal in one line that changes, elsewhere (a log) in a line now and then.
/// The header comes with the first step, which may have added to the environment (a checkpoint's name and dtype). The
/// footer is left to the caller, who knows about the other reports.
class LOCKSTEP_API LiveReport final : public RunObserver {
 public:
  /// Where it says how far the running step is.
  struct Running {
    std::FILE* stream = nullptr;  ///< null: nowhere
    bool is_terminal = false;
    std::chrono::milliseconds between_lines{30'000};  ///< of a stream that is none
  };
  /// The streams outlive this object.
  LiveReport(std::FILE* report, const Running& running, TerminalStyle style)
      : report_(report), running_(running), style_(style) {}

  void step_started(const RunRecord& record, std::size_t step) override;
  void step_progress(std::size_t step, std::int64_t done, std::int64_t total, std::string_view unit) override;
  void step_output(std::size_t step, std::string_view text) override;
  void step_finished(const RunRecord& record, std::size_t step) override;

 private:
  using Clock = std::chrono::steady_clock;

  void print(const std::string& text);
  void show();
  void clear();
  [[nodiscard]] double seconds() const;

  std::FILE* report_;
  Running running_;
  TerminalStyle style_;
  bool header_printed_ = false;
  std::string step_;
  StepProgress progress_;
  Clock::time_point started_;
  Clock::time_point shown_;
};

}  // namespace lockstep
