#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <lockstep/tensor.hpp>

#include "processor/image_processor.hpp"
#include "runtime/vision_profile.hpp"

// A second way to everything that a picture contributes to a prompt: from the resized pixels and the profile, sharing
// nothing with the image processor's patches and the expansion of texts.

namespace gemma4 {

/// The ids of a picture's place in a prompt.
struct PictureIds {
  std::int64_t begin = 0, image = 0, end = 0;
};
/// Each image id becomes: begin, `soft_tokens` times image, end.
[[nodiscard]] std::vector<std::int64_t> with_soft_tokens(std::span<const std::int64_t> ids, const PictureIds& picture,
                                                         std::int64_t soft_tokens);

/// float32 [1, num_patches, 3 * patch_size^2] of a picture of the profile's size, uint8 [3, image_height, image_width]:
/// element (patch, row, column, channel) is the pixel there times `rescale_factor`, both in float32; zeros behind.
[[nodiscard]] lockstep::Tensor patches_of(const lockstep::Tensor& resized, const VisionProfile& profile,
                                          double rescale_factor);
/// int64 [1, num_patches, 2]: column and row of each patch, row by row; -1 behind.
[[nodiscard]] lockstep::Tensor places_of_patches(const VisionProfile& profile);

/// What of the processor's output for one picture is not as the profile says, and which setting to change; or "".
[[nodiscard]] std::string misfit(const ImageInputs& picture, const VisionProfile& profile);

}  // namespace gemma4
