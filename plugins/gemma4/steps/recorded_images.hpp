#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include <lockstep/port.hpp>
#include <lockstep/tensor.hpp>
#include "checkpoint/checkpoint.hpp"
#include "recording/recording.hpp"

namespace gemma4 {

/// What the vision tower is fed; N pictures, P patch slots each.
struct RecordedPixels {
  lockstep::Tensor values;     ///< float32 [N, P, 3 * patch_size^2]
  lockstep::Tensor positions;  ///< int64 [N, P, 2]
  std::vector<std::int64_t> soft_tokens;
};

/// The recorded pictures, found in `folder` by name and verified by sha256, through the image processor with the
/// recorded budget. Taps: "img.0.rgb_u8", "img.0.resized_u8", …, "img.pixel_values", "img.position_ids",
/// "img.num_soft_tokens".
/// Throws lockstep::Error that names the file which is missing, another one or damaged.
[[nodiscard]] RecordedPixels process_recorded_images(const Recording& recording, const Checkpoint& checkpoint,
                                                     const std::filesystem::path& folder,
                                                     const lockstep::TensorVisitor& taps);

/// The recorded values themselves. Throws lockstep::Error when reference.safetensors lacks them or they are damaged.
[[nodiscard]] RecordedPixels taken_pixels(const Recording& recording);

}  // namespace gemma4
