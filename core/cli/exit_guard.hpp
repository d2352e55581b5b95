#pragma once

#include "engine/executor.hpp"

namespace lockstep::cli {

/// While it lives, a call of exit ends the process with exit code 5 and one line on standard error that names the step
/// that runs. A step that calls exit(0) would otherwise end the run as if it had passed. Children of fork are left
/// alone, and _exit cannot be seen. One at a time.
class ExitGuard final : public RunObserver {
 public:
  ExitGuard();
  ~ExitGuard() override;
  ExitGuard(const ExitGuard&) = delete;
  ExitGuard& operator=(const ExitGuard&) = delete;

  void run_started(const RunRecord& record) override;
  void step_started(const RunRecord& record, std::size_t step) override;
  void step_finished(const RunRecord& record, std::size_t step) override;
};

}  // namespace lockstep::cli
