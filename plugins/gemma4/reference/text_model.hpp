#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "reference/text_layer.hpp"

namespace gemma4 {

/// What the layers of one pass are given. B rows, Q positions.
struct TextInputs {
  at::Tensor inputs_embeds;     ///< [B, Q, H]
  at::Tensor per_layer_inputs;  ///< [B, Q, L, P]
  PerLayerType<RotaryEmbedding::Table> rope;
  PerLayerType<at::Tensor> masks;
};

/// Gemma4TextModel's layers and final norm, and the language modelling head on top.
class TextModel {
 public:
  TextModel(const Checkpoint& checkpoint, at::ScalarType dtype);

  /// One pass; `cache` grows by its positions. Returns [B, Q, H], or the last logits_to_keep positions if that is not
  /// 0: layers that share keys and values then run on those positions only, since nothing reads the others. Taps:
  /// L0.in_norm, …, final_norm.
  [[nodiscard]] at::Tensor forward(TextInputs inputs, DynamicCache& cache, std::int64_t logits_to_keep,
                                   const Taps& taps) const;
  /// The tied head and the softcap in three operations of T: [B, k, H] -> [B, k, V]. Taps: logits_raw, logits_capped.
  [[nodiscard]] at::Tensor logits(const at::Tensor& hidden, const Taps& taps) const;

 private:
  const TextConfig& config_;
  Weights weights_;
  std::vector<TextLayer> layers_;
};

}  // namespace gemma4
