#include "runtime/static_vision.hpp"

#include <cmath>

#include <ATen/TensorOperators.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/rsqrt.h>
#include <fmt/format.h>

#include <lockstep/torch.hpp>

#include "runtime/softmax.hpp"

namespace gemma4 {
namespace {

using at::Tensor;

// The batch is one picture, so hidden states are [P, Hv] throughout.
class StaticVision {
 public:
  StaticVision(const VisionWeights& weights, const VisionTables& tables, const lockstep::TensorVisitor& taps)
      : weights_(weights), config_(weights.config), tables_(tables), taps_(taps) {}

  Tensor run(const Tensor& pixel_values) const {
    auto x = patch_embedder(pixel_values.squeeze(0));
    show("vis.pos_add", x.unsqueeze(0));
    for (std::size_t i = 0; i < weights_.layers.size(); ++i) {
      x = encoder_layer(x, weights_.layers[i]);
      show(fmt::format("vis.L{}.out", i), x.unsqueeze(0));
    }
    x = pooler(x);
    show("vis.scaled", x);
    return lockstep::linear(normalized(x), weights_.embedding_projection);
  }

 private:
  Tensor patch_embedder(const Tensor& pixels) const {
    const auto centered = pixels.mul(2).sub(1).to(weights_.dtype());
    return lockstep::linear(centered, weights_.input_proj).add(tables_.position_embeddings);
  }

  Tensor encoder_layer(const Tensor& x, const VisionLayerWeights& layer) const {
    const auto attended =
        x + normalized(attention(normalized(x, layer.input_layernorm), layer), layer.post_attention_layernorm);
    return attended + normalized(mlp(normalized(attended, layer.pre_feedforward_layernorm), layer),
                                 layer.post_feedforward_layernorm);
  }

  Tensor attention(const Tensor& hidden, const VisionLayerWeights& layer) const {
    const auto patches = hidden.size(0);
    const auto heads = config_.num_attention_heads;
    const auto key_heads = config_.num_key_value_heads;
    const auto split = [&](const Tensor& t, std::int64_t count) { return t.view({patches, count, config_.head_dim}); };
    const auto for_queries = [&](const Tensor& t) {  // [P, key_heads, hd] -> [heads, P, hd]
      return t.transpose(0, 1).repeat_interleave(heads / key_heads, 0);
    };
    const auto query = rotated(normalized(split(project(hidden, layer.q_proj), heads), layer.q_norm)).transpose(0, 1);
    const auto key = for_queries(rotated(normalized(split(project(hidden, layer.k_proj), key_heads), layer.k_norm)));
    const auto value = for_queries(normalized(split(project(hidden, layer.v_proj), key_heads)));

    const auto scores = lockstep::matmul(query, key.transpose(1, 2)) + tables_.attention_mask;  // [heads, P, P]
    const auto probabilities = softmax_in_float(scores);
    const auto context =
        lockstep::matmul(probabilities, value).transpose(0, 1).reshape({patches, heads * config_.head_dim});
    return project(context, layer.o_proj);
  }

  /// Within the channels of each axis, channel j turns with channel j + hd / 4. The sign is part of the table.
  Tensor rotated(const Tensor& t) const {
    const auto quarter = config_.head_dim / 4;
    const auto swapped = t.view({t.size(0), t.size(1), 2, 2, quarter}).flip(3).reshape(t.sizes());
    return t * tables_.cos + swapped * tables_.signed_sin;
  }

  Tensor mlp(const Tensor& hidden, const VisionLayerWeights& layer) const {
    return project(at::gelu(project(hidden, layer.gate_proj), "tanh") * project(hidden, layer.up_proj),
                   layer.down_proj);
  }

  static Tensor project(const Tensor& x, const VisionProjection& projection) {
    if (!projection.input_min.defined()) return lockstep::linear(x, projection.weight);
    const auto clamped = [](const Tensor& t, const Tensor& low, const Tensor& high) {
      return at::clamp(t, low.item(), high.item());
    };
    return clamped(lockstep::linear(clamped(x, projection.input_min, projection.input_max), projection.weight),
                   projection.output_min, projection.output_max);
  }

  Tensor normalized(const Tensor& x, const Tensor& weight = {}) const {
    const auto wide = x.to(at::kFloat);
    auto result = wide * at::rsqrt(wide.square().mean(-1, true) + config_.rms_norm_eps);
    if (weight.defined()) result = result * weight.to(at::kFloat);
    return result.to(x.scalar_type());
  }

  /// All max_soft_tokens rows are computed, whatever the profile fills.
  Tensor pooler(const Tensor& hidden) const {
    const auto scale = std::sqrt(static_cast<double>(config_.hidden_size));
    const auto pooled = at::mm(tables_.pool_weight, hidden.to(at::kFloat)).mul(scale);
    return pooled.slice(0, 0, tables_.num_visual_tokens).to(weights_.dtype());
  }

  void show(const std::string& name, const Tensor& tensor) const {
    if (taps_) taps_(name, lockstep::Tensor(tensor));
  }

  const VisionWeights& weights_;
  const VisionConfig& config_;
  const VisionTables& tables_;
  const lockstep::TensorVisitor& taps_;
};

}  // namespace

Tensor static_vision_prefill(const VisionWeights& weights, const VisionTables& tables, const Tensor& pixel_values,
                             const lockstep::TensorVisitor& taps) {
  return StaticVision(weights, tables, taps).run(pixel_values);
}

}  // namespace gemma4
