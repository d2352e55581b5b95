#include "runtime/eager_vision.hpp"

#include <cmath>
#include <limits>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/one_hot.h>
#include <ATen/ops/pow.h>
#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/torch.hpp>

#include "runtime/softmax.hpp"

namespace gemma4 {
namespace {

using at::Tensor;
using lockstep::Error;

struct Rotation {
  Tensor cos, sin;  // T [N, P, 1, hd / 2], of one axis
};

void require_inputs(const VisionWeights& weights, const Tensor& pixels, const Tensor& ids) {
  const auto text = [](const Tensor& t) { return lockstep::Tensor(t).to_string(); };
  const bool form = pixels.dim() == 3 && pixels.size(2) == weights.input_proj.size(1) &&
                    (pixels.scalar_type() == at::kFloat || pixels.scalar_type() == weights.dtype());
  if (!form) {
    throw Error{fmt::format("pixel_values is {}, expected float32 or {} [N, P, {}]", text(pixels),
                            lockstep::name_of(lockstep::from_torch(weights.dtype())), weights.input_proj.size(1))};
  }
  if (ids.scalar_type() != at::kLong || ids.sizes() != at::IntArrayRef({pixels.size(0), pixels.size(1), 2})) {
    throw Error{
        fmt::format("image_position_ids is {}, expected int64 [{}, {}, 2]", text(ids), pixels.size(0), pixels.size(1))};
  }
  const auto kernel = weights.config.pooling_kernel_size;
  if (pixels.size(1) == 0 || pixels.size(1) % (kernel * kernel) != 0) {
    throw Error{fmt::format("pixel_values has {} patches, expected a multiple of {} x {} (pooling_kernel_size)",
                            pixels.size(1), kernel, kernel)};
  }
  const auto rows = weights.position_embedding_table.size(1);
  if (ids.numel() > 0 && (ids.max().item<std::int64_t>() >= rows || ids.min().item<std::int64_t>() < -1)) {
    throw Error{fmt::format("image_position_ids has values from {} to {}, the position table has rows 0 to {}",
                            ids.min().item<std::int64_t>(), ids.max().item<std::int64_t>(), rows - 1)};
  }
}

Tensor rms_norm(const Tensor& x, double eps, const Tensor& weight = {}) {
  const auto x32 = x.to(at::kFloat);
  auto y = x32 * at::pow(x32.pow(2).mean(-1, true) + eps, -0.5);
  if (weight.defined()) y = y * weight.to(at::kFloat);
  return y.to(x.scalar_type());
}

Tensor clipped_linear(Tensor x, const VisionProjection& proj) {
  const bool clipped = proj.input_min.defined();
  if (clipped) x = at::minimum(at::maximum(x, proj.input_min), proj.input_max);
  x = lockstep::linear(x, proj.weight);
  if (clipped) x = at::minimum(at::maximum(x, proj.output_min), proj.output_max);
  return x;
}

Rotation rotation_of(const Tensor& positions, const VisionConfig& config, at::ScalarType dtype) {
  const auto width = config.head_dim / 2;
  const auto inv_freq =
      1.0 / at::pow(config.rope.rope_theta, at::arange(0, width, 2).to(at::kFloat).div(static_cast<double>(width)));
  const auto freqs = positions.to(at::kFloat).unsqueeze(-1) * inv_freq;
  const auto angles = at::cat({freqs, freqs}, -1).unsqueeze(2);
  return {angles.cos().to(dtype), angles.sin().to(dtype)};
}

Tensor rotate_half(const Tensor& x) {
  const auto halves = x.chunk(2, -1);
  return at::cat({-halves[1], halves[0]}, -1);
}

/// x is [N, P, heads, hd]; each half of the channels turns with its own axis.
Tensor apply_rotation(const Tensor& x, const Rotation& along_x, const Rotation& along_y) {
  const auto parts = x.chunk(2, -1);
  const auto turn = [](const Tensor& part, const Rotation& r) { return part * r.cos + rotate_half(part) * r.sin; };
  return at::cat({turn(parts[0], along_x), turn(parts[1], along_y)}, -1);
}

}  // namespace

Tensor eager_vision_features(const VisionWeights& weights, const Tensor& pixel_values, const Tensor& image_position_ids,
                             const lockstep::TensorVisitor& taps) {
  require_inputs(weights, pixel_values, image_position_ids);
  const auto& config = weights.config;
  const auto dtype = weights.dtype();
  const auto eps = config.rms_norm_eps;
  const auto pictures = pixel_values.size(0);
  const auto patches = pixel_values.size(1);
  const auto padding = image_position_ids.eq(-1).all(-1);  // bool [N, P]
  const auto clamped = image_position_ids.clamp_min(0);
  const auto x_ids = clamped.select(-1, 0);
  const auto y_ids = clamped.select(-1, 1);

  const auto at_x = weights.position_embedding_table.select(0, 0).index({x_ids});
  const auto at_y = weights.position_embedding_table.select(0, 1).index({y_ids});
  auto hidden = lockstep::linear(((pixel_values - 0.5) * 2).to(dtype), weights.input_proj) +
                (at_x + at_y).masked_fill(padding.unsqueeze(-1), 0);

  const auto along_x = rotation_of(x_ids, config, dtype);
  const auto along_y = rotation_of(y_ids, config, dtype);
  const auto hidden_keys = padding.view({pictures, 1, 1, patches});
  const double lowest =
      dtype == at::kFloat ? std::numeric_limits<float>::lowest() : -3.3895313892515355e38;  // bfloat16
  const auto repeats = config.num_attention_heads / config.num_key_value_heads;

  std::size_t index = 0;
  for (const auto& layer : weights.layers) {
    const auto residual = hidden;
    hidden = rms_norm(hidden, eps, layer.input_layernorm);
    const auto heads_of = [&](const VisionProjection& proj) {
      return clipped_linear(hidden, proj).unflatten(-1, {-1, config.head_dim});
    };
    const auto q = apply_rotation(rms_norm(heads_of(layer.q_proj), eps, layer.q_norm), along_x, along_y);
    const auto k = apply_rotation(rms_norm(heads_of(layer.k_proj), eps, layer.k_norm), along_x, along_y);
    const auto v = rms_norm(heads_of(layer.v_proj), eps);
    const auto keys = k.repeat_interleave(repeats, 2).permute({0, 2, 3, 1});
    const auto values = v.repeat_interleave(repeats, 2).permute({0, 2, 1, 3});
    const auto scores = lockstep::matmul(q.permute({0, 2, 1, 3}), keys).masked_fill(hidden_keys, lowest);
    const auto attended = lockstep::matmul(softmax_in_float(scores.flatten(0, 1)).view(scores.sizes()), values);
    hidden = clipped_linear(attended.permute({0, 2, 1, 3}).flatten(2), layer.o_proj);
    hidden = residual + rms_norm(hidden, eps, layer.post_attention_layernorm);

    const auto normed = rms_norm(hidden, eps, layer.pre_feedforward_layernorm);
    const auto gated =
        at::gelu(clipped_linear(normed, layer.gate_proj), "tanh") * clipped_linear(normed, layer.up_proj);
    hidden = hidden + rms_norm(clipped_linear(gated, layer.down_proj), eps, layer.post_feedforward_layernorm);
    if (taps) taps(fmt::format("vis.L{}.out", index++), lockstep::Tensor(hidden));
  }

  const auto kernel = config.pooling_kernel_size;
  const auto length = patches / (kernel * kernel);
  const auto tokens_per_row = (std::get<0>(x_ids.max(-1, true)) + 1).div(kernel, "floor");
  const auto slot = x_ids.div(kernel, "floor") + tokens_per_row * y_ids.div(kernel, "floor");
  if (slot.numel() > 0 && slot.max().item<std::int64_t>() >= length) {
    throw Error{fmt::format("image_position_ids put a patch into soft token {}, but {} patches give {} of them",
                            slot.max().item<std::int64_t>(), patches, length)};
  }
  const auto share = at::one_hot(slot, length).to(at::kFloat).div(static_cast<double>(kernel * kernel));
  const auto pooled =
      at::matmul(share.transpose(1, 2).contiguous(), hidden.masked_fill(padding.unsqueeze(-1), 0).to(at::kFloat));
  const auto filled = share.masked_fill(padding.unsqueeze(-1), 0).ne(0).any(1);  // bool [N, length]
  const auto scaled = (pooled * std::sqrt(static_cast<double>(config.hidden_size))).index({filled});
  return lockstep::linear(rms_norm(scaled.to(dtype), eps), weights.embedding_projection);
}

}  // namespace gemma4
