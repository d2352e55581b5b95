#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/record.hpp"
#include "pipeline/plan.hpp"

namespace lockstep {

/// Sees a run as it goes: the terminal's live line, the incremental record.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void run_started(const RunRecord&) {}
  virtual void step_started(const RunRecord&, std::size_t /*step*/) {}
  virtual void step_progress(std::size_t /*step*/, std::int64_t /*done*/, std::int64_t /*total*/,
                             std::string_view /*unit*/) {}
  /// The step's record is final; the run's verdict is still `incomplete`.
  /// What an isolated step wrote to its standard output and error, in pieces.
  virtual void step_output(std::size_t /*step*/, std::string_view /*text*/) {}
  virtual void step_finished(const RunRecord&, std::size_t /*step*/) {}
  virtual void run_finished(const RunRecord&) {}
};

/// Which steps are scored and how the run ends early.
struct RunOptions {
  std::vector<std::string> only;  ///< step ids, all of which exist in the plan
  std::optional<std::string> from;
  std::optional<std::string> to;
  bool fail_fast = false;
  std::filesystem::path dump;                      ///< folder for `<step>.safetensors`, empty: no dump
  const std::atomic<bool>* interrupted = nullptr;  ///< set by the SIGINT handler
  /// The program and first arguments of the process of an isolated step, which calls `run_worker`; without it such a
  /// step ends in ERROR.
  std::vector<std::string> worker;
};

/// Runs a plan (its step objects are used up) and returns the final record. Throws only what the observers throw.
[[nodiscard]] LOCKSTEP_API RunRecord execute(Plan& plan, const RunOptions& options,
                                             const std::vector<RunObserver*>& observers);

/// What is known of a run before it starts: what runs, and nothing of how it went.
[[nodiscard]] LOCKSTEP_API RunRecord record_of(const Plan& plan);

/// The record of a run that could not start: verdict `invalid`, exit code 2 or 3.
[[nodiscard]] LOCKSTEP_API RunRecord invalid_record(const PlanResult& result, int exit_code);

}  // namespace lockstep
