#pragma once

#include <cstdint>
#include <span>

#include <ATen/core/Tensor.h>

#include <lockstep/export.hpp>
#include <lockstep/tensor.hpp>

namespace gemma4 {

/// sqrt(width) as it takes part in the product: transformers casts the scale to the dtype of the weights first.
[[nodiscard]] LOCKSTEP_API double embedding_scale(std::int64_t width, lockstep::DType dtype);

/// The rows of `table` ([V, W]) that `ids` name, times `scale`, rounded once: dtype [1, n, W], contiguous, a copy.
/// Throws lockstep::Error that names an id outside the table and its place.
[[nodiscard]] LOCKSTEP_API at::Tensor scaled_rows(const lockstep::Tensor& table, std::span<const std::int64_t> ids,
                                                  double scale, lockstep::DType dtype);

}  // namespace gemma4
