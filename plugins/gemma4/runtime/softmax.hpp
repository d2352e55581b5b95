#pragma once

#include <ATen/core/Tensor.h>

#include <lockstep/export.hpp>

namespace gemma4 {

/// The softmax over the last axis, computed in float32 and rounded to the dtype of `scores`, which it overwrites.
/// scores T [n, …], contiguous. Entries of the first axis are taken in turn where they are large, so that the float32
/// copies of all of them are never there at once: each row's result depends on that row alone.
[[nodiscard]] LOCKSTEP_API at::Tensor softmax_in_float(at::Tensor scores);

}  // namespace gemma4
