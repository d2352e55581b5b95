#pragma once

#include <ATen/core/Tensor.h>

#include <lockstep/export.hpp>
#include "checkpoint/text_tensors.hpp"
#include "reference/taps.hpp"

namespace gemma4 {

/// Gemma4TextRotaryEmbedding: the angles position * inv_freq of each layer type, laid out twice, as cos and sin.
class LOCKSTEP_API RotaryEmbedding {
 public:
  /// [b, S, D] in T.
  struct Table {
    at::Tensor cos;
    at::Tensor sin;
  };

  RotaryEmbedding(const TextConfig& config, at::ScalarType dtype);

  /// position_ids int64 [b, S]. A type that no layer has stays undefined. Taps: sliding.inv_freq, sliding.cos, ….
  [[nodiscard]] PerLayerType<Table> forward(const at::Tensor& position_ids, const Taps& taps) const;

 private:
  PerLayerType<at::Tensor> inv_freq_;  // float32 [D / 2]
  at::ScalarType dtype_;
};

}  // namespace gemma4
