#include "reference/rotary_embedding.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/div.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/reciprocal.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/zeros.h>

#include <cmath>

namespace gemma4 {
namespace {

/// 1 / theta^(2j / head_dim), float32, for the first `count` pairs.
at::Tensor frequencies(double rope_theta, std::int64_t count, std::int64_t head_dim) {
  const auto exponents = at::div(at::arange(0, 2 * count, 2, at::kFloat), head_dim);
  return at::reciprocal(at::pow(at::Scalar(rope_theta), exponents));
}

/// rope_type "proportional": the first pairs rotate, with the whole head_dim in the exponent; the others stand still.
at::Tensor proportional_inv_freq(const RopeConfig& rope, std::int64_t head_dim) {
  const auto rotated =
      static_cast<std::int64_t>(std::floor(rope.partial_rotary_factor * static_cast<double>(head_dim) / 2));
  return at::cat({frequencies(rope.rope_theta, rotated, head_dim), at::zeros({head_dim / 2 - rotated}, at::kFloat)});
}

}  // namespace

RotaryEmbedding::RotaryEmbedding(const TextConfig& config, at::ScalarType dtype) : dtype_(dtype) {
  if (const auto head_dim = config.head_dim(LayerType::sliding_attention); head_dim > 0) {
    inv_freq_.sliding = frequencies(config.sliding_rope.rope_theta, head_dim / 2, head_dim);
  }
  if (const auto head_dim = config.head_dim(LayerType::full_attention); head_dim > 0) {
    inv_freq_.full = proportional_inv_freq(config.full_rope, head_dim);
  }
}

PerLayerType<RotaryEmbedding::Table> RotaryEmbedding::forward(const at::Tensor& position_ids, const Taps& taps) const {
  const auto table = [&](const at::Tensor& inv_freq, const Taps& type_taps) -> Table {
    if (!inv_freq.defined()) return {};
    type_taps("inv_freq", inv_freq);
    const auto angles = at::mul(position_ids.unsqueeze(-1).to(at::kFloat), inv_freq);
    const auto both = at::cat({angles, angles}, -1);
    return {type_taps("cos", at::mul(at::cos(both), 1.0).to(dtype_)),
            type_taps("sin", at::mul(at::sin(both), 1.0).to(dtype_))};
  };
  return {table(inv_freq_.sliding, taps.under("sliding")), table(inv_freq_.full, taps.under("full"))};
}

}  // namespace gemma4
