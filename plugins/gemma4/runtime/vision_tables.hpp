#pragma once

#include <ATen/core/Tensor.h>

#include <lockstep/export.hpp>

#include "runtime/vision_profile.hpp"
#include "runtime/vision_weights.hpp"

namespace gemma4 {

/// What the static vision graph holds as constants: all that depends on where the patches lie, worked out once from a
/// profile's own positions. P num_patches of the profile, Hv hidden_size, hd head_dim of the tower, T computing dtype.
struct VisionTables {
  at::Tensor position_embeddings;  ///< T [P, Hv]: row x of the first table plus row y of the second; 0 for padding
  at::Tensor cos;                  ///< T [P, 1, hd]: the angles of x, twice, then those of y, twice
  at::Tensor signed_sin;           ///< T [P, 1, hd]: the same with the first half of each axis negated
  at::Tensor attention_mask;       ///< T [P, P]: 0 where query and key are both patches of the picture, else the fill
  at::Tensor pool_weight;          ///< float32 [max_soft_tokens, P]: 1 / kernel^2 where the patch belongs to the token
  std::int64_t num_visual_tokens = 0;  ///< rows of the pooled result that hold something; the first ones
};

/// `mask_fill` is added to the scores of pairs with padding: finite, so that rows of padding stay finite.
/// Throws lockstep::Error if the position table has fewer rows than the grid.
[[nodiscard]] LOCKSTEP_API VisionTables bake_vision_tables(const VisionProfile& profile, const VisionWeights& weights,
                                                           double mask_fill);

}  // namespace gemma4
