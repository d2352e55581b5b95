#pragma once

#include <optional>
#include <string>

#include "engine/record.hpp"

namespace lockstep {

/// In what two records of one run cannot differ and do: "the pipeline's sha256", "--config and --set". None if they
/// are of the same pipeline, overlays, arguments and matrix.
[[nodiscard]] LOCKSTEP_API std::optional<std::string> difference_in_setup(const RunRecord& a, const RunRecord& b);

/// Where a record is at odds with itself: "its verdict is pass and its exit code 1". None if it is not. No run writes
/// such a record; a file that was edited, or put together from two, may hold one.
[[nodiscard]] LOCKSTEP_API std::optional<std::string> contradiction_in(const RunRecord& record);

}  // namespace lockstep
