#include "runtime/text_rope.hpp"

#include <algorithm>

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/zeros.h>

namespace gemma4 {
namespace {

RopeRows rows_of(const at::Tensor& frequencies, std::int64_t max_seq, at::ScalarType dtype) {
  const auto half = at::outer(at::arange(max_seq, at::dtype(at::kFloat)), frequencies);
  const auto angles = at::cat({half, half}, -1);
  return {.cos = angles.cos().to(dtype), .sin = angles.sin().to(dtype)};
}

}  // namespace

bool has_layers(const TextConfig& config, LayerType type) {
  return std::ranges::any_of(config.layers, [type](const TextLayerConfig& layer) { return layer.type == type; });
}

std::int64_t rotated_slots(const TextConfig& config) {
  const auto width = static_cast<double>(config.head_dim(LayerType::full_attention));
  return static_cast<std::int64_t>(config.full_rope.partial_rotary_factor * width / 2);
}

at::Tensor inverse_frequencies(double theta, std::int64_t head_dim, std::int64_t rotated, std::int64_t denominator) {
  const auto exponents = at::arange(0, 2 * rotated, 2).to(at::kFloat).div(static_cast<double>(denominator));
  return at::cat({at::pow(theta, exponents).reciprocal(), at::zeros({head_dim / 2 - rotated})});
}

PerLayerType<RopeRows> bake_rope(const TextConfig& config, std::int64_t max_seq, at::ScalarType dtype,
                                 std::int64_t proportional_denominator) {
  PerLayerType<RopeRows> rows;
  if (has_layers(config, LayerType::sliding_attention)) {
    const auto width = config.head_dim(LayerType::sliding_attention);
    rows.sliding =
        rows_of(inverse_frequencies(config.sliding_rope.rope_theta, width, width / 2, width), max_seq, dtype);
  }
  if (has_layers(config, LayerType::full_attention)) {
    const auto width = config.head_dim(LayerType::full_attention);
    const auto denominator = proportional_denominator > 0 ? proportional_denominator : width;
    rows.full = rows_of(inverse_frequencies(config.full_rope.rope_theta, width, rotated_slots(config), denominator),
                        max_seq, dtype);
  }
  return rows;
}

}  // namespace gemma4
