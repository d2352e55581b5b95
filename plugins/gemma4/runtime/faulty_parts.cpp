#include "runtime/faulty_parts.hpp"

#include <cmath>
#include <limits>

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones_like.h>

#include "checkpoint/text_tensors.hpp"
#include "runtime/token_rows.hpp"

namespace gemma4 {
namespace {

void add_one(at::Tensor& weight) {
  if (weight.defined()) weight = weight + 1;
}

/// Scores are products of queries and keys: a query norm that is smaller by sqrt(width) divides them all.
void scale_queries(at::Tensor& query_norm) {
  query_norm = query_norm / std::sqrt(static_cast<double>(query_norm.size(0)));
}

void cut_in_half(TextLayerWeights& layer) {
  const auto half = layer.gate_proj.size(0) / 2;
  layer.gate_proj = layer.gate_proj.slice(0, 0, half);
  layer.up_proj = layer.up_proj.slice(0, 0, half);
  layer.down_proj = layer.down_proj.slice(1, 0, half);
}

void take_first_producer(TextWeights& weights, std::size_t index) {
  for (std::size_t i = 0; i < index; ++i) {
    if (!weights.layers[i].produces_kv() || weights.config.layers[i].type != weights.config.layers[index].type)
      continue;
    weights.layers[index].kv_source = i;
    return;
  }
}

}  // namespace

void damage(TextWeights& weights, Fault fault) {
  if (fault == Fault::none) return;
  const auto narrow = weights.config.layers.front().intermediate_size;
  for (std::size_t i = 0; i < weights.layers.size(); ++i) {
    auto& layer = weights.layers[i];
    if (fault == Fault::attention_scaled) scale_queries(layer.q_norm);
    if (fault == Fault::layer_scalar_missing) layer.layer_scalar = at::ones_like(layer.layer_scalar);
    if (fault == Fault::mlp_cut && weights.config.layers[i].intermediate_size > narrow) cut_in_half(layer);
    if (fault == Fault::wrong_kv_donor && !layer.produces_kv()) take_first_producer(weights, i);
    if (fault == Fault::norm_one_plus_weight) {
      for (auto* norm :
           {&layer.input_layernorm, &layer.post_attention_layernorm, &layer.pre_feedforward_layernorm,
            &layer.post_feedforward_layernorm, &layer.post_per_layer_input_norm, &layer.q_norm, &layer.k_norm}) {
        add_one(*norm);
      }
    }
  }
  if (fault == Fault::norm_one_plus_weight) {
    add_one(weights.per_layer_projection_norm);
    add_one(weights.norm);
  }
}

void damage(VisionWeights& weights, Fault fault) {
  if (fault == Fault::positions_transposed) weights.position_embedding_table = weights.position_embedding_table.flip(0);
  for (auto& layer : weights.layers) {
    if (fault == Fault::vision_attention_scaled) scale_queries(layer.q_norm);
    if (fault == Fault::vision_norm_one_plus_weight) {
      for (auto* norm : {&layer.input_layernorm, &layer.post_attention_layernorm, &layer.pre_feedforward_layernorm,
                         &layer.post_feedforward_layernorm, &layer.q_norm, &layer.k_norm}) {
        add_one(*norm);
      }
    }
    if (fault == Fault::clip_bounds_ignored) {
      for (auto* projection : {&layer.q_proj, &layer.k_proj, &layer.v_proj, &layer.o_proj, &layer.gate_proj,
                               &layer.up_proj, &layer.down_proj}) {
        *projection = {
            .weight = projection->weight, .input_min = {}, .input_max = {}, .output_min = {}, .output_max = {}};
      }
    }
  }
}

void damage(VisionTables& tables, const VisionProfile& profile, Fault fault) {
  if (fault == Fault::positions_transposed) {
    const auto swapped = [](const at::Tensor& table) {
      const auto axes = table.chunk(2, -1);
      return at::cat({axes[1], axes[0]}, -1);
    };
    tables.cos = swapped(tables.cos);
    tables.signed_sin = swapped(tables.signed_sin);
  }
  if (fault == Fault::pool_padding_not_zeroed) {
    const auto share = 1.0 / static_cast<double>(profile.pooling_kernel_size * profile.pooling_kernel_size);
    tables.pool_weight.select(0, 0).slice(0, profile.num_valid_patches()).fill_(share);
  }
  if (fault == Fault::pool_padding_not_stripped) tables.num_visual_tokens = profile.max_soft_tokens;
}

at::Tensor damaged_pixels(const at::Tensor& pixels, const VisionProfile& profile, Fault fault) {
  if (fault != Fault::patches_transposed) return pixels;
  const auto side = profile.patch_size;
  return pixels.view({1, profile.num_patches(), side, side, 3}).transpose(2, 3).flatten(2);
}

at::Tensor damaged_features(const at::Tensor& features, Fault fault) {
  if (fault != Fault::nan_image_features) return features;
  auto damaged = features.clone();
  damaged[0][0] = std::numeric_limits<double>::quiet_NaN();
  return damaged;
}

double token_scale(std::int64_t width, lockstep::DType dtype, Fault fault) {
  if (fault == Fault::embedding_scale_missing) return 1;
  if (fault == Fault::embedding_scale_not_rounded) return std::sqrt(static_cast<double>(width));
  return embedding_scale(width, dtype);
}

}  // namespace gemma4
