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

/// A pass behind the last layer with keys and values of its own.
struct BegunPass {
  TextInputs inputs;
  at::Tensor hidden;  ///< [B, Q, H]
  KeyValueStates states;
};

/// Gemma4TextModel's layers and final norm, and the language modelling head on top.
class TextModel {
 public:
  TextModel(const Checkpoint& checkpoint, at::ScalarType dtype);

  /// The layers with keys and values of their own; `cache`, which outlives the result, grows by the pass's positions.
  /// Taps: L0.in_norm, …
  [[nodiscard]] BegunPass begin(TextInputs inputs, DynamicCache& cache, const Taps& taps) const;
  /// The layers that share keys and values, and the final norm. Returns [B, Q, H], or the last logits_to_keep positions
  /// if that is not 0: the layers then run on those positions only, since nothing reads the others. Taps: …,
  /// final_norm.
  [[nodiscard]] at::Tensor finish(BegunPass pass, std::int64_t logits_to_keep, const Taps& taps) const;
  /// The tied head and the softcap in three operations of T: [B, k, H] -> [B, k, V]. Taps: logits_raw, logits_capped.
  [[nodiscard]] at::Tensor logits(const at::Tensor& hidden, const Taps& taps) const;

 private:
  void run_layers(std::int64_t first, std::int64_t end, BegunPass& pass, const Taps& taps) const;

  const TextConfig& config_;
  Weights weights_;
  std::vector<TextLayer> layers_;
};

}  // namespace gemma4
