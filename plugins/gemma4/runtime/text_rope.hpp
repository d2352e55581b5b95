#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include <lockstep/export.hpp>

#include "checkpoint/text_tensors.hpp"

namespace gemma4 {

/// Cosine and sine of every position of a static prompt, T [max_seq, D].
struct RopeRows {
  at::Tensor cos, sin;
};

/// theta^(-2i / denominator) for the first `rotated` of `head_dim / 2` slots, 0 for the others, which do not turn.
/// float32 [head_dim / 2]. Sliding layers turn all slots; full ones ("proportional") the share partial_rotary_factor,
/// and their denominator is the whole head_dim as well.
[[nodiscard]] LOCKSTEP_API at::Tensor inverse_frequencies(double theta, std::int64_t head_dim, std::int64_t rotated,
                                                          std::int64_t denominator);

/// Angles are float32, tables are rounded to `dtype` at the end; slot i serves the channels i and i + D / 2. Types that
/// no layer has stay undefined. `proportional_denominator` replaces head_dim for full layers if it is not 0.
[[nodiscard]] LOCKSTEP_API PerLayerType<RopeRows> bake_rope(const TextConfig& config, std::int64_t max_seq,
                                                            at::ScalarType dtype,
                                                            std::int64_t proportional_denominator = 0);

/// Slots that turn in full layers: half of the rotated channels.
[[nodiscard]] LOCKSTEP_API std::int64_t rotated_slots(const TextConfig& config);

[[nodiscard]] LOCKSTEP_API bool has_layers(const TextConfig& config, LayerType type);

}  // namespace gemma4
