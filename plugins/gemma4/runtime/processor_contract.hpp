#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <lockstep/export.hpp>
#include <lockstep/tensor.hpp>

#include "runtime/vision_profile.hpp"

// What a processor's output must look like for a static runtime of one profile. Each check throws lockstep::Error that
// names expected and actual. Nothing is returned: outputs are taken whole or not at all.

namespace gemma4 {

/// [1, num_patches, 2] int64: (x, y) of the patches of the grid, row by row, then (-1, -1) for padding.
[[nodiscard]] LOCKSTEP_API lockstep::Tensor build_image_position_ids(const VisionProfile& profile);
/// Hex SHA-256 over the ids as little-endian int64. Throws if `ids` is not int64.
[[nodiscard]] LOCKSTEP_API std::string image_position_ids_sha256(const lockstep::Tensor& ids);

/// `ids` must equal build_image_position_ids(profile), dtype and shape included.
LOCKSTEP_API void validate_image_position_ids(const VisionProfile& profile, const lockstep::Tensor& ids);
/// `ids` is [S] or [1, S] int64; the image token must fill the slots [visual_start_idx, visual_end_idx) and no others.
LOCKSTEP_API void validate_text_input_ids(const VisionProfile& profile, const lockstep::Tensor& ids,
                                          std::int64_t image_token_id);

/// One picture's worth of processor output.
struct ProcessorOutputs {
  lockstep::Tensor input_ids;                                                ///< [S] or [1, S] int64
  std::optional<lockstep::Tensor> pixel_values = std::nullopt;               ///< [1, num_patches, 3 * patch_size^2]
  std::optional<lockstep::Tensor> image_position_ids = std::nullopt;         ///< [1, num_patches, 2] int64
  std::optional<lockstep::Tensor> num_soft_tokens_per_image = std::nullopt;  ///< [1] int64; newer processors omit it
};
/// All of it: the span of image tokens, the position ids, the shape of the pixels, the count if there is one. A missing
/// pixel_values or image_position_ids is an error.
LOCKSTEP_API void validate_processor_outputs(const VisionProfile& profile, const ProcessorOutputs& outputs,
                                             std::int64_t image_token_id);

}  // namespace gemma4
