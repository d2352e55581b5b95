#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include <lockstep/export.hpp>

#include "checkpoint/checkpoint.hpp"

namespace gemma4 {

/// A projection without bias whose input and output are clamped, if the checkpoint has bounds: x clamped, W x, clamped.
struct VisionProjection {
  at::Tensor weight;                                        ///< [out, in]
  at::Tensor input_min, input_max, output_min, output_max;  ///< 0-d; undefined unless use_clipped_linears
};

struct VisionLayerWeights {
  at::Tensor input_layernorm, post_attention_layernorm, pre_feedforward_layernorm,
      post_feedforward_layernorm;  ///< [Hv]
  at::Tensor q_norm, k_norm;       ///< [head_dim]
  VisionProjection q_proj, k_proj, v_proj, o_proj;
  VisionProjection gate_proj, up_proj, down_proj;
};

/// The vision tower's weights and sizes, in the computing dtype. Hv is the tower's hidden_size.
struct VisionWeights {
  VisionConfig config;
  at::Tensor input_proj;                ///< [Hv, 3 * patch_size^2]
  at::Tensor position_embedding_table;  ///< [2, position_embedding_size, Hv]: x, then y
  std::vector<VisionLayerWeights> layers;
  at::Tensor embedding_projection;  ///< [hidden_size of the text, Hv]

  [[nodiscard]] at::ScalarType dtype() const { return input_proj.scalar_type(); }
};

/// Weights of `dtype` in the checkpoint are views of its map, so it must outlive the result; others are converted once.
/// Throws lockstep::Error for a checkpoint without vision.
[[nodiscard]] LOCKSTEP_API VisionWeights load_vision_weights(const Checkpoint& checkpoint, at::ScalarType dtype);

}  // namespace gemma4
