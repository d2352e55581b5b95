#pragma once

#include <ATen/core/Tensor.h>

#include "reference/embedding.hpp"
#include "reference/taps.hpp"
#include "reference/weights.hpp"

namespace gemma4 {

/// What each text layer gets beside the hidden state: Gemma4TextModel's get_per_layer_inputs and
/// project_per_layer_inputs. L layers, P = hidden_size_per_layer_input.
class PerLayerInputs {
 public:
  PerLayerInputs(const Checkpoint& checkpoint, at::ScalarType dtype);

  /// llm_input_ids int64 [B, S], placeholders replaced by the pad id; fused_embeds [B, S, H].
  /// Returns [B, S, L, P] in T. Taps: token, ctx_proj, ctx_scaled, ctx_norm, combined.
  [[nodiscard]] at::Tensor forward(const lockstep::Tensor& llm_input_ids, const at::Tensor& fused_embeds,
                                   const Taps& taps) const;

 private:
  const TextConfig& config_;
  ScaledWordEmbedding embed_tokens_per_layer_;
  Weights weights_;
};

}  // namespace gemma4
