#pragma once

#include <ATen/core/Tensor.h>

#include "reference/taps.hpp"
#include "reference/weights.hpp"

namespace gemma4 {

/// transformers' Gemma4VisionModel followed by Gemma4MultimodalEmbedder: pixels to soft tokens of the text's width.
///
/// N pictures, P patch slots each, Hv vision width, V valid soft tokens of all pictures together.
class VisionTower {
 public:
  VisionTower(const Checkpoint& checkpoint, at::ScalarType dtype);

  /// pixel_values [N, P, 3 * patch_size^2], image_position_ids int64 [N, P, 2] as (x, y), (-1, -1) in padding slots.
  /// Returns [V, hidden_size] in T, picture after picture. Taps: pixels, patch_proj, …, proj.
  [[nodiscard]] at::Tensor image_features(const at::Tensor& pixel_values, const at::Tensor& image_position_ids,
                                          const Taps& taps) const;

 private:
  at::Tensor patch_embedder(const at::Tensor& pixel_values, const at::Tensor& position_ids, const at::Tensor& padding,
                            const Taps& taps) const;
  at::Tensor encoder(at::Tensor hidden, const at::Tensor& position_ids, const at::Tensor& padding,
                     const Taps& taps) const;
  at::Tensor layer(std::int64_t index, const at::Tensor& hidden, const at::Tensor& cos, const at::Tensor& sin,
                   const at::Tensor& mask, const Taps& taps) const;
  at::Tensor attention(const at::Tensor& hidden, const Weights& weights, const at::Tensor& cos, const at::Tensor& sin,
                       const at::Tensor& mask, const Taps& taps) const;
  at::Tensor mlp(const at::Tensor& hidden, const Weights& weights, const Taps& taps) const;
  at::Tensor pooler(const at::Tensor& hidden, const at::Tensor& position_ids, const at::Tensor& padding,
                    const Taps& taps) const;

  const VisionConfig& config_;
  Weights tower_;
  Weights embedder_;
};

}  // namespace gemma4
