#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

#include "processor/image_processor.hpp"

namespace gemma4 {
namespace {

/// The largest multiple of `step` up to `length`.
std::int64_t rounded_down(double length, std::int64_t step) {
  return static_cast<std::int64_t>(std::floor(length / static_cast<double>(step))) * step;
}

}  // namespace

PictureSize target_size(PictureSize picture, const ImageProcessorConfig& config, std::int64_t max_soft_tokens) {
  const auto kernel_area = config.pooling_kernel_size * config.pooling_kernel_size;
  const auto max_pixels = max_soft_tokens * kernel_area * config.patch_size * config.patch_size;
  const auto side = config.pooling_kernel_size * config.patch_size;
  const auto longest = max_soft_tokens * side;
  const auto height = static_cast<double>(picture.height), width = static_cast<double>(picture.width);

  if (picture.height < 1 || picture.width < 1) {
    throw lockstep::Error{
        fmt::format("the picture is {} x {} pixels, expected at least 1 x 1", picture.width, picture.height),
        "give another picture"};
  }
  const double factor = std::sqrt(static_cast<double>(max_pixels) / (height * width));
  const PictureSize size{rounded_down(factor * height, side), rounded_down(factor * width, side)};
  if (size.height == 0 && size.width == 0) {
    throw lockstep::Error{
        fmt::format("a picture of {} x {} pixels with at most {} soft tokens: no side reaches {} pixels (patch_size {} "
                    "times pooling_kernel_size {})",
                    picture.width, picture.height, max_soft_tokens, side, config.patch_size,
                    config.pooling_kernel_size),
        "raise max_soft_tokens"};
  }
  if (size.height == 0) return {side, std::min(picture.width / picture.height * side, longest)};
  if (size.width == 0) return {std::min(picture.height / picture.width * side, longest), side};
  return size;
}

}  // namespace gemma4
