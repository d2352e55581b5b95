#include "runtime/vision_tables.hpp"

#include <algorithm>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

namespace gemma4 {
namespace {

at::Tensor copied(std::vector<std::int64_t> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return at::from_blob(values.data(), {count}, at::dtype(at::kLong)).clone();
}

/// Column (or row) of each patch of the grid; padding is at 0.
struct Positions {
  at::Tensor x, y;  // int64 [P]
};

Positions positions_of(const VisionProfile& profile) {
  std::vector<std::int64_t> x(static_cast<std::size_t>(profile.num_patches()), 0);
  auto y = x;
  for (std::int64_t patch = 0; patch < profile.num_valid_patches(); ++patch) {
    x[static_cast<std::size_t>(patch)] = patch % profile.patch_grid_width;
    y[static_cast<std::size_t>(patch)] = patch / profile.patch_grid_width;
  }
  return {copied(std::move(x)), copied(std::move(y))};
}

at::Tensor position_embeddings_of(const VisionProfile& profile, const VisionWeights& weights,
                                  const Positions& positions) {
  const auto rows = weights.position_embedding_table.size(1);
  if (std::max(profile.patch_grid_height, profile.patch_grid_width) > rows) {
    throw lockstep::Error{fmt::format("profile '{}' has {} x {} patches, the checkpoint's position table {} per axis",
                                      profile.name, profile.patch_grid_height, profile.patch_grid_width, rows),
                          "choose a profile with a smaller patch grid"};
  }
  const auto table = weights.position_embedding_table;
  const auto sum = table[0].index_select(0, positions.x) + table[1].index_select(0, positions.y);
  sum.slice(0, profile.num_valid_patches()).zero_();
  return sum;
}

/// Angles of one axis, float32 [P, hd / 2]: position times theta^(-2i / (hd / 2)), and once more.
at::Tensor angles_of(const at::Tensor& positions, const VisionConfig& config) {
  const auto width = config.head_dim / 2;
  const auto exponents = at::arange(0, width, 2).to(at::kFloat) / static_cast<double>(width);
  const auto inverse_frequencies = at::pow(config.rope.rope_theta, exponents).reciprocal();
  const auto half = at::outer(positions.to(at::kFloat), inverse_frequencies);
  return at::cat({half, half}, -1);
}

at::Tensor signed_for_rotation(const at::Tensor& sin) {
  const auto quarters = sin.chunk(4, -1);
  return at::cat({quarters[0].neg(), quarters[1], quarters[2].neg(), quarters[3]}, -1);
}

at::Tensor pool_weight_of(const VisionProfile& profile) {
  const auto kernel = profile.pooling_kernel_size;
  auto weight = at::zeros({profile.max_soft_tokens, profile.num_patches()});
  auto values = weight.accessor<float, 2>();
  const auto share = 1.0F / static_cast<float>(kernel * kernel);
  for (std::int64_t y = 0; y < profile.patch_grid_height; ++y) {
    for (std::int64_t x = 0; x < profile.patch_grid_width; ++x) {
      values[y / kernel * profile.soft_grid_width() + x / kernel][y * profile.patch_grid_width + x] = share;
    }
  }
  return weight;
}

}  // namespace

VisionTables bake_vision_tables(const VisionProfile& profile, const VisionWeights& weights, double mask_fill) {
  const auto dtype = weights.dtype();
  const auto positions = positions_of(profile);
  const auto angles = at::cat({angles_of(positions.x, weights.config), angles_of(positions.y, weights.config)}, -1);
  const auto valid = profile.num_valid_patches();
  const auto mask = at::full({profile.num_patches(), profile.num_patches()}, mask_fill, at::dtype(dtype));
  mask.slice(0, 0, valid).slice(1, 0, valid).zero_();
  return {.position_embeddings = position_embeddings_of(profile, weights, positions),
          .cos = angles.cos().to(dtype).unsqueeze(1),
          .signed_sin = signed_for_rotation(angles.sin()).to(dtype).unsqueeze(1),
          .attention_mask = mask,
          .pool_weight = pool_weight_of(profile),
          .num_visual_tokens = profile.num_visual_tokens};
}

}  // namespace gemma4
