#include "reference/vision_tower.hpp"

#include <ATen/ops/add.h>
#include <ATen/ops/all.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/any.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/clamp_min.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/div.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/index.h>
#include <ATen/ops/logical_not.h>
#include <ATen/ops/masked_fill.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/one_hot.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/reciprocal.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <cmath>
#include <lockstep/diagnostic.hpp>
#include <lockstep/torch.hpp>
#include <utility>

#include "reference/blocks.hpp"

namespace gemma4 {
namespace {

/// One frequency per pair of channels of one axis, float32: 1 / theta^(2i / (head_dim / 2)).
at::Tensor axial_inv_freq(const VisionConfig& config) {
  const auto spatial_dim = config.head_dim / 2;
  const auto exponents = at::div(at::arange(0, spatial_dim, 2, at::kFloat), spatial_dim);
  return at::reciprocal(at::pow(at::Scalar(config.rope.rope_theta), exponents));
}

/// cos and sin of both axes' angles in T, laid out x x y y: [N, P, head_dim].
std::pair<at::Tensor, at::Tensor> axial_rope(const VisionConfig& config, const at::Tensor& position_ids,
                                             at::ScalarType dtype, const Taps& taps) {
  const auto inv_freq = taps("rope.inv_freq", axial_inv_freq(config));
  const auto angles = at::mul(position_ids.unsqueeze(-1).to(at::kFloat), inv_freq);  // [N, P, 2, head_dim / 4]
  const auto laid_out = [dtype](const at::Tensor& table) {
    const auto x = table.select(2, 0), y = table.select(2, 1);
    return at::cat({x, x, y, y}, -1).to(dtype);
  };
  const auto cos = taps("rope.cos", laid_out(at::mul(at::cos(angles), 1.0)));
  const auto sin = taps("rope.sin", laid_out(at::mul(at::sin(angles), 1.0)));
  return {cos, sin};
}

/// The two halves of the head rotate by x and by y, each within itself.
at::Tensor apply_axial_rope(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin) {
  const auto half = x.size(-1) / 2;
  std::vector<at::Tensor> parts;
  for (const std::int64_t start : {std::int64_t{0}, half}) {
    const auto part = [&](const at::Tensor& t) { return t.slice(-1, start, start + half); };
    parts.push_back(apply_rotary_pos_emb(part(x), part(cos), part(sin)));
  }
  return at::cat(parts, -1);
}

/// Padded keys masked, [N, 1, P, P] in T; undefined if no slot is padded, where transformers adds no mask at all.
at::Tensor bidirectional_mask(const at::Tensor& padding, at::ScalarType dtype, const Taps& taps) {
  if (!at::any(padding).item<bool>()) return {};
  const auto batch = padding.size(0), patches = padding.size(1);
  const auto row = at::zeros({batch, 1, 1, patches}, dtype)
                       .masked_fill(padding.unsqueeze(1).unsqueeze(1), at::Scalar(lowest(dtype)));
  taps("mask", row);
  return row.expand({batch, 1, patches, patches});
}

}  // namespace

VisionTower::VisionTower(const Checkpoint& checkpoint, at::ScalarType dtype)
    : config_(checkpoint.config().vision.value()),
      tower_(checkpoint, dtype, "model.vision_tower."),
      embedder_(checkpoint, dtype, "model.embed_vision.") {}

at::Tensor VisionTower::image_features(const at::Tensor& pixel_values, const at::Tensor& image_position_ids,
                                       const Taps& taps) const {
  const auto padding = at::all(at::eq(image_position_ids, -1), -1);  // [N, P]
  const auto embedded = patch_embedder(pixel_values, image_position_ids, padding, taps);
  const auto encoded = encoder(embedded, image_position_ids, padding, taps);
  const auto tokens = taps("scaled", pooler(encoded, image_position_ids, padding, taps).to(tower_.dtype()));
  const auto normed = taps("proj_norm", rms_norm(tokens, {}, config_.rms_norm_eps));
  return taps("proj", lockstep::linear(normed, embedder_("embedding_projection.weight")));
}

at::Tensor VisionTower::patch_embedder(const at::Tensor& pixel_values, const at::Tensor& position_ids,
                                       const at::Tensor& padding, const Taps& taps) const {
  const auto pixels = taps("pixels", at::mul(at::sub(pixel_values, 0.5), 2).to(tower_.dtype()));
  const auto projected = taps("patch_proj", lockstep::linear(pixels, tower_("patch_embedder.input_proj.weight")));

  const auto table = tower_("patch_embedder.position_embedding_table");  // [2, positions, Hv]
  const auto clamped = at::clamp_min(position_ids, 0);
  const auto positions = at::add(at::embedding(table.select(0, 0), clamped.select(-1, 0)),
                                 at::embedding(table.select(0, 1), clamped.select(-1, 1)));
  const auto position_embeddings = taps("pos_emb", positions.masked_fill(padding.unsqueeze(-1), 0.0));
  return taps("pos_add", at::add(projected, position_embeddings));
}

at::Tensor VisionTower::encoder(at::Tensor hidden, const at::Tensor& position_ids, const at::Tensor& padding,
                                const Taps& taps) const {
  const auto mask = bidirectional_mask(padding, tower_.dtype(), taps);
  const auto [cos, sin] = axial_rope(config_, position_ids, tower_.dtype(), taps);
  for (std::int64_t i = 0; i < config_.num_hidden_layers; ++i) {
    hidden = layer(i, hidden, cos, sin, mask, taps.under(fmt::format("L{}", i)));
  }
  return hidden;
}

at::Tensor VisionTower::layer(std::int64_t index, const at::Tensor& hidden, const at::Tensor& cos,
                              const at::Tensor& sin, const at::Tensor& mask, const Taps& taps) const {
  const auto weights = tower_.under(fmt::format("encoder.layers.{}", index));
  const auto norm = [&](const std::string& name, const at::Tensor& x) {
    return rms_norm(x, weights(name + ".weight"), config_.rms_norm_eps);
  };
  const auto attended =
      attention(taps("in_norm", norm("input_layernorm", hidden)), weights.under("self_attn"), cos, sin, mask, taps);
  const auto middle =
      taps("resid1", at::add(hidden, taps("post_attn_norm", norm("post_attention_layernorm", attended))));
  const auto fed = mlp(taps("pre_ffn_norm", norm("pre_feedforward_layernorm", middle)), weights.under("mlp"), taps);
  return taps("out", at::add(middle, taps("post_ffn_norm", norm("post_feedforward_layernorm", fed))));
}

at::Tensor VisionTower::attention(const at::Tensor& hidden, const Weights& weights, const at::Tensor& cos,
                                  const at::Tensor& sin, const at::Tensor& mask, const Taps& taps) const {
  const auto batch = hidden.size(0), patches = hidden.size(1);
  const auto heads = [&](const std::string& name) {
    const auto projected = clippable_linear(hidden, weights.under(name + "_proj"), config_.use_clipped_linears);
    return taps(name, projected.view({batch, patches, -1, config_.head_dim}));
  };
  const auto normed = [&](const std::string& name, const at::Tensor& weight) {
    return taps(name + "_norm", rms_norm(heads(name), weight, config_.rms_norm_eps));
  };
  const auto query = taps("q_rope", apply_axial_rope(normed("q", weights("q_norm.weight")), cos, sin));
  const auto key = taps("k_rope", apply_axial_rope(normed("k", weights("k_norm.weight")), cos, sin));
  const auto value = normed("v", {});
  const auto context = eager_attention(query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2), mask, taps);
  return taps("o", clippable_linear(context.reshape({batch, patches, -1}), weights.under("o_proj"),
                                    config_.use_clipped_linears));
}

at::Tensor VisionTower::mlp(const at::Tensor& hidden, const Weights& weights, const Taps& taps) const {
  const auto linear = [&](const std::string& name, const at::Tensor& x) {
    return clippable_linear(x, weights.under(name), config_.use_clipped_linears);
  };
  const auto gate = taps("act", gelu_tanh(taps("gate", linear("gate_proj", hidden))));
  const auto product = taps("act_mul", at::mul(gate, taps("up", linear("up_proj", hidden))));
  return taps("down", linear("down_proj", product));
}

at::Tensor VisionTower::pooler(const at::Tensor& hidden, const at::Tensor& position_ids, const at::Tensor& padding,
                               const Taps& taps) const {
  const auto patches = hidden.size(1);
  const auto length = patches / (config_.pooling_kernel_size * config_.pooling_kernel_size);
  const auto k = static_cast<std::int64_t>(std::sqrt(static_cast<double>(length > 0 ? patches / length : 0)));
  if (length == 0 || k * k * length != patches) {
    throw lockstep::Error{fmt::format("{} patch slots cannot be pooled by {} x {}", patches,
                                      config_.pooling_kernel_size, config_.pooling_kernel_size)};
  }
  const auto zeroed = hidden.masked_fill(padding.unsqueeze(-1), 0.0);

  // Slot of each patch: column and row of its k x k cell. Padding lands on slot 0 with zero content.
  const auto clamped = at::clamp_min(position_ids, 0);
  const auto width = at::add(at::amax(clamped.select(-1, 0), {-1}, /*keepdim=*/true), 1);
  const auto cell = at::div(clamped, k, "floor");
  const auto slot = at::add(cell.select(-1, 0), at::mul(at::div(width, k, "floor"), cell.select(-1, 1)));
  const auto weights = at::div(at::one_hot(slot.to(at::kLong), length).to(at::kFloat), k * k);  // [N, P, length]
  const auto pooled = taps("pool", at::matmul(weights.transpose(1, 2), zeroed.to(at::kFloat)).to(hidden.scalar_type()));
  const auto valid = taps("pool_valid", at::logical_not(at::all(at::eq(weights, 0), 1)));

  // transformers scales in float32, because float16 would overflow, and casts back after the padding is stripped.
  const auto scaled =
      taps("pool_scaled", at::mul(pooled.to(at::kFloat), std::pow(static_cast<double>(config_.hidden_size), 0.5)));
  return at::index(scaled, {std::optional<at::Tensor>(valid)});
}

}  // namespace gemma4
