#pragma once

#include <ATen/core/Tensor.h>

#include "checkpoint/config.hpp"
#include "reference/dynamic_cache.hpp"
#include "reference/rotary_embedding.hpp"
#include "reference/taps.hpp"
#include "reference/weights.hpp"

namespace gemma4 {

/// The keys and values that a pass has at hand.
struct KeyValueStates {
  DynamicCache& cache;
  /// Of the last layer of each type that has its own; layers that share take them from here.
  PerLayerType<KeyValue> shared;
};

/// Gemma4TextDecoderLayer: attention, MLP and the per-layer input, each added to the stream after a norm of its own;
/// then the stream times layer_scalar.
class TextLayer {
 public:
  TextLayer(const TextConfig& config, std::int64_t index, const Weights& language_model);

  /// hidden [B, Q, H], per_layer_input [B, Q, P], rope [b, Q, D], mask [B, 1, Q, K] -> [B, Q, H].
  /// Taps: in_norm, q, q_norm, q_rope, k, …, kv_source.k, scores, …, resid3, out.
  [[nodiscard]] at::Tensor forward(const at::Tensor& hidden, const at::Tensor& per_layer_input,
                                   const RotaryEmbedding::Table& rope, const at::Tensor& mask, KeyValueStates& states,
                                   const Taps& taps) const;

 private:
  at::Tensor norm(const std::string& name, const at::Tensor& x) const;
  at::Tensor attention(const at::Tensor& hidden, const RotaryEmbedding::Table& rope, const at::Tensor& mask,
                       KeyValueStates& states, const Taps& taps) const;
  KeyValue own_key_value(const at::Tensor& hidden, const RotaryEmbedding::Table& rope, const Taps& taps) const;
  at::Tensor mlp(const at::Tensor& hidden, const Taps& taps) const;
  at::Tensor gated_per_layer_input(const at::Tensor& hidden, const at::Tensor& per_layer_input, const Taps& taps) const;

  const TextConfig& config_;
  const TextLayerConfig& layer_;
  std::int64_t index_;
  Weights weights_;
};

}  // namespace gemma4
