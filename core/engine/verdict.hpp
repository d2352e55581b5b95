#pragma once

#include <string>
#include <vector>

#include "engine/record.hpp"

namespace lockstep {

/// The status of a step that ran to its end: the worst of its checks; DONE if it declares none that is not `off`.
[[nodiscard]] LOCKSTEP_API StepStatus status_of(const std::vector<CheckResult>& checks);

/// What the verdict of a run needs to know beside the record.
struct RunFacts {
  bool interrupted = false;
  bool report_failed = false;             ///< a dump could not be written
  bool declares_required_checks = false;  ///< some scored step does
  bool performed_required_check = false;  ///< some scored step called one
};

/// The verdict that goes with an exit code.
[[nodiscard]] LOCKSTEP_API RunVerdict verdict_of_exit_code(int code) noexcept;

/// Sets verdict, exit_code and message. Of several exit codes the highest of 6, 5, 4, 1 wins.
LOCKSTEP_API void conclude(RunRecord& record, const RunFacts& facts);

}  // namespace lockstep
