#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <lockstep/export.hpp>
#include <lockstep/tensor.hpp>
#include "checkpoint/config.hpp"

// What happens to a picture before the vision tower sees it: transformers' Gemma4ImageProcessor with the torchvision
// backend, bit for bit.
//
// ```cpp
// const std::array pictures{gemma4::decode_image("photo.jpg")};
// const auto inputs = gemma4::process_images(pictures, *checkpoint.image_processor());
// const auto text = gemma4::expand_images(prompt, inputs.num_soft_tokens);   // prompt.hpp
// ```

namespace gemma4 {

/// A decoded picture, 8 bits per channel.
struct Picture {
  std::int64_t height = 0, width = 0;
  std::vector<std::uint8_t> rgb;  ///< [height, width, 3], row-major

  friend bool operator==(const Picture&, const Picture&) = default;
};

/// A picture may have as many pixels as Pillow decodes without a warning (PIL.Image.MAX_IMAGE_PIXELS).
inline constexpr std::int64_t max_picture_pixels = 89'478'485;

/// The RGB that the image processor makes of `PIL.Image.open(file)`: a PNG or a JPEG of any kind. Transparency is
/// composited on white; samples of 16 bits lose their low byte, grey ones are clamped to 255 (so does Pillow). The EXIF
/// orientation is *not* applied: the processor looks at the stored pixels only.
///
/// Throws lockstep::Error that names the file when it is missing, empty, not a regular file, neither PNG nor JPEG,
/// damaged (truncated, a wrong checksum, corrupt data) or larger than max_picture_pixels.
[[nodiscard]] LOCKSTEP_API Picture decode_image(const std::filesystem::path& file);

/// The same from memory; `name` is how errors call it.
[[nodiscard]] LOCKSTEP_API Picture decode_image(std::span<const std::byte> bytes, std::string_view name,
                                                std::int64_t max_pixels = max_picture_pixels);

[[nodiscard]] LOCKSTEP_API Picture white_picture(std::int64_t height, std::int64_t width);

struct PictureSize {
  std::int64_t height = 0, width = 0;

  friend bool operator==(const PictureSize&, const PictureSize&) = default;
};

/// The largest size of about the same aspect whose sides are multiples of patch_size * pooling_kernel_size and whose
/// patches fit into `max_soft_tokens` (transformers' get_aspect_ratio_preserving_size). Small pictures are enlarged.
/// Throws lockstep::Error when there is no such size.
[[nodiscard]] LOCKSTEP_API PictureSize target_size(PictureSize picture, const ImageProcessorConfig& config,
                                                   std::int64_t max_soft_tokens);

/// What the processor gives for N pictures; P = max_soft_tokens * pooling_kernel_size^2 patches, p = patch_size.
struct ImageInputs {
  lockstep::Tensor pixel_values;              ///< [N, P, 3 * p * p] float32 in [0, 1]; padding is 0
  lockstep::Tensor image_position_ids;        ///< [N, P, 2] int64: (x, y) of the patch; padding is -1
  std::vector<std::int64_t> num_soft_tokens;  ///< of each picture
  std::vector<lockstep::Tensor> resized;      ///< of each picture: [3, height, width] uint8
};

/// `max_soft_tokens`, if given, stands in for the one of the settings: 70, 140, 280, 560 or 1120.
/// Throws lockstep::Error that names a setting that is not implemented (do_normalize = true, do_resize = false, …), and
/// when a picture has no size that fits.
[[nodiscard]] LOCKSTEP_API ImageInputs process_images(std::span<const Picture> pictures,
                                                      const ImageProcessorConfig& config,
                                                      std::optional<std::int64_t> max_soft_tokens = {});

}  // namespace gemma4
