#include "steps/picture_parts.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace gemma4 {

using lockstep::Tensor;

std::vector<std::int64_t> with_soft_tokens(std::span<const std::int64_t> ids, const PictureIds& picture,
                                           std::int64_t soft_tokens) {
  std::vector<std::int64_t> result;
  for (const auto id : ids) {
    if (id != picture.image) {
      result.push_back(id);
      continue;
    }
    result.push_back(picture.begin);
    result.insert(result.end(), static_cast<std::size_t>(soft_tokens), picture.image);
    result.push_back(picture.end);
  }
  return result;
}

Tensor patches_of(const Tensor& resized, const VisionProfile& profile, double rescale_factor) {
  const auto dense = resized.contiguous();
  const auto pixels = dense.values<std::uint8_t>();
  const auto side = profile.patch_size;
  const auto factor = static_cast<float>(rescale_factor);
  std::vector<float> values(static_cast<std::size_t>(profile.num_patches() * profile.patch_vector_size()), 0.0F);
  // Goes through the picture, not through the patches: each pixel says where it belongs.
  std::size_t pixel = 0;
  for (std::int64_t channel = 0; channel < 3; ++channel) {
    for (std::int64_t y = 0; y < profile.image_height(); ++y) {
      for (std::int64_t x = 0; x < profile.image_width(); ++x) {
        const auto patch = y / side * profile.patch_grid_width + x / side;
        const auto inside = (y % side * side + x % side) * 3 + channel;
        values[static_cast<std::size_t>(patch * profile.patch_vector_size() + inside)] =
            static_cast<float>(pixels[pixel++]) * factor;
      }
    }
  }
  return Tensor::copy_of(std::span<const float>(values), {1, profile.num_patches(), profile.patch_vector_size()});
}

Tensor places_of_patches(const VisionProfile& profile) {
  std::vector<std::int64_t> places;
  for (std::int64_t row = 0; row < profile.patch_grid_height; ++row) {
    for (std::int64_t column = 0; column < profile.patch_grid_width; ++column) {
      places.push_back(column);
      places.push_back(row);
    }
  }
  places.resize(static_cast<std::size_t>(2 * profile.num_patches()), -1);
  return Tensor::copy_of(std::span<const std::int64_t>(places), {1, profile.num_patches(), 2});
}

std::string misfit(const ImageInputs& picture, const VisionProfile& profile) {
  const auto& resized = picture.resized.front();
  if (resized.size(1) != profile.image_height() || resized.size(2) != profile.image_width()) {
    return fmt::format(
        "the picture becomes {} x {} pixels (height x width), expected {} x {} of profile '{}': change "
        "image, or choose the profile of that size",
        resized.size(1), resized.size(2), profile.image_height(), profile.image_width(), profile.name);
  }
  const std::vector<std::int64_t> pixels{1, profile.num_patches(), profile.patch_vector_size()};
  if (picture.pixel_values.sizes() != pixels) {
    return fmt::format(
        "pixel_values is {}, expected {} of profile '{}': set its max_soft_tokens and patch_size to the "
        "image processor's",
        picture.pixel_values.to_string(), lockstep::shape_text(pixels), profile.name);
  }
  if (picture.num_soft_tokens.front() != profile.num_visual_tokens) {
    return fmt::format(
        "the picture gives {} soft tokens, expected {} of profile '{}': set its num_visual_tokens and "
        "pooling_kernel_size to the image processor's",
        picture.num_soft_tokens.front(), profile.num_visual_tokens, profile.name);
  }
  return "";
}

}  // namespace gemma4
