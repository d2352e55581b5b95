#pragma once

#include <ATen/core/Tensor.h>

#include "checkpoint/text_tensors.hpp"

namespace gemma4 {

/// transformers' create_masks_for_generate for eager attention: query i may attend to key j <= i, in sliding layers to
/// j > i - sliding_window only, and never to padding. attention_mask bool [B, past_length + Q], true where valid.
/// Returns [B, 1, Q, keys] in `dtype`: 0 or its lowest value. Sliding: the Q own keys and at most the sliding_window -
/// 1 before them, which is what the cache gives. A type that no layer has stays undefined.
[[nodiscard]] PerLayerType<at::Tensor> causal_masks(const TextConfig& config, const at::Tensor& attention_mask,
                                                    std::int64_t past_length, at::ScalarType dtype);

}  // namespace gemma4
