#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <lockstep/safetensors.hpp>
#include <lockstep/tensor.hpp>

#include "checkpoint/checkpoint.hpp"
#include "runtime/vision_profile.hpp"

namespace gemma4::test {

inline std::shared_ptr<const Checkpoint> checkpoint_in(const std::string& folder) {
  return std::make_shared<const Checkpoint>(Checkpoint::open(std::string(LOCKSTEP_SOURCE_DIR) + "/" + folder));
}
inline std::shared_ptr<const Checkpoint> shapes_vision_checkpoint() {
  static const auto checkpoint = checkpoint_in("pipelines/data/shapes-gemma4");
  return checkpoint;
}
inline std::shared_ptr<const Checkpoint> irregular_vision_checkpoint() {
  static const auto checkpoint = checkpoint_in("tests/data/irregular-gemma4");
  return checkpoint;
}

/// A file of tests/data/vision, without its ending.
inline lockstep::SafetensorsFile vision_recording(const std::string& name) {
  return lockstep::SafetensorsFile::open(LOCKSTEP_TEST_DATA "/vision/" + name + ".safetensors");
}

/// The pixels that the image processor makes of a picture of the profile's size, uint8 [3, height, width]: patches row
/// by row, in a patch the channel fastest, float32 of u8 times float32(1 / 255), zeros behind. [1, P, 3 * patch_size^2]
inline lockstep::Tensor pixels_of(const lockstep::Tensor& picture, const VisionProfile& profile) {
  const auto dense = picture.contiguous();
  const auto bytes = dense.values<std::uint8_t>();
  const auto side = profile.patch_size;
  std::vector<float> values;
  for (std::int64_t patch = 0; patch < profile.num_valid_patches(); ++patch) {
    for (std::int64_t i = 0; i < profile.patch_vector_size(); ++i) {
      const auto y = patch / profile.patch_grid_width * side + i / 3 / side;
      const auto x = patch % profile.patch_grid_width * side + i / 3 % side;
      const auto at = (i % 3 * profile.image_height() + y) * profile.image_width() + x;
      values.push_back(static_cast<float>(bytes[static_cast<std::size_t>(at)]) * static_cast<float>(1.0 / 255.0));
    }
  }
  values.resize(static_cast<std::size_t>(profile.num_patches() * profile.patch_vector_size()), 0.0F);
  return lockstep::Tensor::copy_of(std::span<const float>(values),
                                   {1, profile.num_patches(), profile.patch_vector_size()});
}

}  // namespace gemma4::test
