#pragma once

#include <string>

#include "engine/record.hpp"

namespace lockstep {

/// The run record as JUnit XML: a suite per step, a case per check entry; a step without check entries, or one that did
/// not end well, has a case of its own. A last suite holds what belongs to no step ("nothing was verified", a report
/// that could not be written), so that the report is red whenever the exit code is not 0.
///
/// Uses only what both Ant's and Jenkins' schemas know. Failing checks of steps that are not scored are skipped cases.
[[nodiscard]] LOCKSTEP_API std::string to_junit(const RunRecord& record);

}  // namespace lockstep
