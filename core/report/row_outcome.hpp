#pragma once

#include <optional>
#include <string>

#include "engine/record.hpp"

namespace lockstep {

/// How the process of a row ended.
struct RowEnding {
  std::string text;         ///< "exited with code 1", "was ended by signal 9 (SIGKILL)"
  std::optional<int> code;  ///< one of exit_code; none if this process ended it, and what it would have said is unknown
};

/// What is known of a row whose process is over. Its record is taken at its word only if it is that of this very
/// process (the run's id, the row, what ran) and says what the process said with its exit code; else the row cannot
/// have passed, and the message tells why.
///
/// `run` is the record of the run of all rows; `record` what lies in the place of the row's record, none if nothing
/// that can be read does.
[[nodiscard]] LOCKSTEP_API RowSummary row_outcome(const RunRecord& run, const MatrixRow& row, const RowEnding& ending,
                                                  const std::optional<RunRecord>& record);

}  // namespace lockstep
