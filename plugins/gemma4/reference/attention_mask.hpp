#pragma once

#include <ATen/core/Tensor.h>

#include <lockstep/tensor.hpp>

namespace gemma4 {

/// A processor's attention_mask, bool or int64 [B, K], as bool: true where a token is valid.
/// Throws lockstep::Error for another dtype or number of axes.
[[nodiscard]] at::Tensor valid_positions(const lockstep::Tensor& attention_mask);

/// What generate() makes of it: valid tokens counted from 0 in each row, 0 in padding. bool [B, K] -> int64 [B, K];
/// without padding [1, K], since all rows have the same.
[[nodiscard]] at::Tensor position_ids(const at::Tensor& valid);

}  // namespace gemma4
