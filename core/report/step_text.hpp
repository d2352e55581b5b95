#pragma once

#include <string>
#include <vector>

#include "engine/record.hpp"

namespace lockstep {

/// What the report says beside a step: its summary, reason, checks. `verbose`: every check with its statistics, and the
/// parameters; else passing checks of one name share a line, and many passing checks are counted, as are those that a
/// failing step did not come to.
[[nodiscard]] std::vector<std::string> step_lines(const StepRecord& step, bool verbose);

/// A check's outcome and, below it, its worst element, message and, if `verbose`, statistics and the bound's origin.
[[nodiscard]] std::vector<std::string> check_lines(const CheckResult& check, bool verbose);

}  // namespace lockstep
