#pragma once

#include <string_view>

#include <lockstep/check.hpp>

namespace lockstep {

/// The metric of that name, one that compares two tensors. Throws Error.
[[nodiscard]] LOCKSTEP_API Metric read_tensor_metric(std::string_view name);

/// The number that `text` is, as the bound `key`. Throws Error.
[[nodiscard]] LOCKSTEP_API double read_bound(std::string_view key, std::string_view text);

/// Sets the bound `key` ("rtol") of `criterion`. Throws Error if the metric has no such bound or `value` is none that a
/// user may give; `problem_of` tells what is wrong with all bounds together.
LOCKSTEP_API void set_bound(std::string_view key, double value, Criterion& criterion);

}  // namespace lockstep
