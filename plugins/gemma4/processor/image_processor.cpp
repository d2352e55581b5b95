#include "processor/image_processor.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lockstep/diagnostic.hpp>

#include "processor/image_resize.hpp"

namespace gemma4 {
namespace {

constexpr std::array<std::int64_t, 5> budgets{70, 140, 280, 560, 1120};

void require_implemented(std::string_view setting, bool found, bool expected) {
  if (found == expected) return;
  throw lockstep::Error{fmt::format("the image processor's {} is {}, only {} is implemented", setting, found, expected),
                        fmt::format("set {} to {} in the checkpoint's processor_config.json", setting, expected)};
}

void require_implemented(const ImageProcessorConfig& config, std::int64_t max_soft_tokens) {
  require_implemented("do_convert_rgb", config.do_convert_rgb, true);
  require_implemented("do_resize", config.do_resize, true);
  require_implemented("do_rescale", config.do_rescale, true);
  require_implemented("do_normalize", config.do_normalize, false);
  if (std::find(budgets.begin(), budgets.end(), max_soft_tokens) == budgets.end()) {
    throw lockstep::Error{fmt::format("the image processor's max_soft_tokens is {}, expected one of {}",
                                      max_soft_tokens, fmt::join(budgets, ", ")),
                          "set max_soft_tokens to one of them"};
  }
}

void require_consistent(const Picture& picture) {
  if (picture.height > 0 && picture.width > 0 &&
      picture.rgb.size() == static_cast<std::size_t>(picture.height * picture.width * 3)) {
    return;
  }
  throw lockstep::Error{fmt::format("a picture of {} x {} pixels has {} bytes, expected 3 for each pixel",
                                    picture.width, picture.height, picture.rgb.size())};
}

/// [3, height, width] of the picture as it is.
std::vector<std::uint8_t> planes_of(const Picture& picture) {
  std::vector<std::uint8_t> planes(picture.rgb.size());
  const auto pixels = planes.size() / 3;
  for (std::size_t i = 0; i < pixels; ++i) {
    for (std::size_t c = 0; c < 3; ++c) planes[c * pixels + i] = picture.rgb[i * 3 + c];
  }
  return planes;
}

/// A tensor that owns `values`.
template <class T>
lockstep::Tensor tensor_of(std::vector<T> values, std::vector<std::int64_t> sizes) {
  const auto owner = std::make_shared<const std::vector<T>>(std::move(values));
  return {owner, owner->data(), lockstep::dtype_of<T>(), std::move(sizes)};
}

/// What rescaling makes of each level: torch multiplies in float32, so the factor is rounded first.
std::array<float, 256> rescaled_levels(double rescale_factor) {
  std::array<float, 256> levels{};
  for (int i = 0; i < 256; ++i) {
    levels[static_cast<std::size_t>(i)] = static_cast<float>(i) * static_cast<float>(rescale_factor);
  }
  return levels;
}

/// Cuts [3, height, width] into patches, row by row of the grid; a patch is [p, p, 3].
void write_patches(std::span<const std::uint8_t> planes, PictureSize size, std::size_t patch_size,
                   const std::array<float, 256>& levels, float* out) {
  const auto height = static_cast<std::size_t>(size.height), width = static_cast<std::size_t>(size.width);
  for (std::size_t top = 0; top < height; top += patch_size) {
    for (std::size_t left = 0; left < width; left += patch_size) {
      for (std::size_t y = top; y < top + patch_size; ++y) {
        const auto* const red = planes.data() + y * width + left;
        for (std::size_t x = 0; x < patch_size; ++x) {
          for (std::size_t c = 0; c < 3; ++c) *out++ = levels[red[c * height * width + x]];
        }
      }
    }
  }
}

void write_positions(std::int64_t grid_height, std::int64_t grid_width, std::int64_t* out) {
  for (std::int64_t y = 0; y < grid_height; ++y) {
    for (std::int64_t x = 0; x < grid_width; ++x) {
      *out++ = x;
      *out++ = y;
    }
  }
}

}  // namespace

ImageInputs process_images(std::span<const Picture> pictures, const ImageProcessorConfig& config,
                           std::optional<std::int64_t> max_soft_tokens) {
  const auto budget = max_soft_tokens.value_or(config.max_soft_tokens);
  require_implemented(config, budget);
  const auto count = static_cast<std::int64_t>(pictures.size());
  const auto kernel_area = config.pooling_kernel_size * config.pooling_kernel_size;
  const auto patches = budget * kernel_area;
  const auto patch_values = 3 * config.patch_size * config.patch_size;
  const auto levels = rescaled_levels(config.rescale_factor);

  ImageInputs inputs;
  std::vector<float> pixels(static_cast<std::size_t>(count * patches * patch_values), 0.0F);
  std::vector<std::int64_t> positions(static_cast<std::size_t>(count * patches * 2), -1);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto& picture = pictures[static_cast<std::size_t>(i)];
    require_consistent(picture);
    const PictureSize found{picture.height, picture.width};
    const auto size = target_size(found, config, budget);
    auto planes = size == found ? planes_of(picture) : resize_bicubic(picture, size);
    const auto grid_height = size.height / config.patch_size, grid_width = size.width / config.patch_size;
    write_patches(planes, size, static_cast<std::size_t>(config.patch_size), levels,
                  pixels.data() + i * patches * patch_values);
    write_positions(grid_height, grid_width, positions.data() + i * patches * 2);
    inputs.num_soft_tokens.push_back(grid_height * grid_width / kernel_area);
    inputs.resized.push_back(tensor_of(std::move(planes), {3, size.height, size.width}));
  }
  inputs.pixel_values = tensor_of(std::move(pixels), {count, patches, patch_values});
  inputs.image_position_ids = tensor_of(std::move(positions), {count, patches, 2});
  return inputs;
}

}  // namespace gemma4
