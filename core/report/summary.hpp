#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/record.hpp"

namespace lockstep {

/// A row as a summary tells it, from the row's own record. A record that says `incomplete` is that of a row whose
/// process ended without a word: crashed.
[[nodiscard]] LOCKSTEP_API RowSummary summary_of(const RunRecord& record);

/// Sets verdict, exit code, time and memory of a summary from its `rows`: the worst row counts. A row that was invalid
/// when it was to run counts as an error.
LOCKSTEP_API void conclude_rows(RunRecord& summary);

/// One summary of the records of rows, and of summaries of some: of shards that ran on several machines. `files` are
/// their names, for messages and for `RowSummary::record`. A summary may stand beside the records of its rows; what it
/// tells of a row wins. The worst counts, of the rows and of what a summary itself came to.
///
/// Throws Error (F005) if they do not belong together: a record without a row, another pipeline, other overrides or
/// selected steps, a matrix of other rows, a row that ran twice, a row of the matrix that none of them has; or if one
/// cannot be believed: an incomplete summary, a record that contradicts itself.
[[nodiscard]] LOCKSTEP_API RunRecord merge_rows(const std::vector<RunRecord>& records,
                                                const std::vector<std::string>& files);

}  // namespace lockstep
