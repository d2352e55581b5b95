#pragma once

#include <cstddef>
#include <vector>

#include <ATen/core/Tensor.h>

#include <lockstep/export.hpp>

#include "checkpoint/checkpoint.hpp"

namespace gemma4 {

/// One text layer. H hidden_size, P hidden_size_per_layer_input, D head_dim of the layer's type.
struct TextLayerWeights {
  at::Tensor input_layernorm, post_attention_layernorm, pre_feedforward_layernorm, post_feedforward_layernorm,
      post_per_layer_input_norm;      ///< [H]
  at::Tensor q_proj, k_proj, v_proj;  ///< [heads * D, H], twice [kv heads * D, H]
  at::Tensor o_proj;                  ///< [H, heads * D]
  at::Tensor q_norm, k_norm;          ///< [D]
  at::Tensor gate_proj, up_proj;      ///< [intermediate_size, H]
  at::Tensor down_proj;               ///< [H, intermediate_size]
  at::Tensor per_layer_input_gate;    ///< [P, H]
  at::Tensor per_layer_projection;    ///< [H, P]
  at::Tensor layer_scalar;            ///< [1]
  /// The layer whose keys and values this one attends to: itself, then a producer, or, where `k_proj`, `v_proj` and
  /// `k_norm` are undefined, the last producer of its type.
  std::size_t kv_source = 0;

  [[nodiscard]] bool produces_kv() const { return k_proj.defined(); }
};

/// The text model without its embedding tables, in the computing dtype.
struct TextWeights {
  TextConfig config;
  std::vector<TextLayerWeights> layers;
  at::Tensor per_layer_model_projection;  ///< [layers * P, H]
  at::Tensor per_layer_projection_norm;   ///< [P]
  at::Tensor norm;                        ///< [H]
  at::Tensor lm_head;                     ///< [vocab_size, H]: the embedding table, not scaled

  [[nodiscard]] at::ScalarType dtype() const { return norm.scalar_type(); }
};

/// Weights of `dtype` in the checkpoint are views of its map, others are converted once. The result keeps what it needs
/// alive. Throws lockstep::Error for a layer that shares keys and values when no layer of its type has any.
[[nodiscard]] LOCKSTEP_API TextWeights load_text_weights(const Checkpoint& checkpoint, at::ScalarType dtype);

}  // namespace gemma4
