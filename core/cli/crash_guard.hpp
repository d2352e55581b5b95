#pragma once

#include <string>

#include "engine/executor.hpp"

namespace lockstep::cli {

/// While it lives, a signal by which the run's own process dies (a wrong memory access, `abort`) is told on standard
/// error, with the step that ran and its plugin. The process then ends by the signal as it would have. Children of fork
/// are left alone, and so is a signal for which someone else has a handler, as sanitizers do. One at a time.
class CrashGuard final : public RunObserver {
 public:
  CrashGuard();
  ~CrashGuard() override;
  CrashGuard(const CrashGuard&) = delete;
  CrashGuard& operator=(const CrashGuard&) = delete;

  void step_started(const RunRecord& record, std::size_t step) override;
  void step_finished(const RunRecord& record, std::size_t step) override;

 private:
  std::string before_;  ///< the message up to the signal's name
  std::string after_;
};

}  // namespace lockstep::cli
