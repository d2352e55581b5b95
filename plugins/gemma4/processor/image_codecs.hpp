#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "processor/image_processor.hpp"

namespace gemma4 {

/// Encoded bytes, what errors call them, and how many pixels may come out.
struct EncodedPicture {
  std::span<const std::byte> bytes;
  std::string_view name;
  std::int64_t max_pixels = max_picture_pixels;
};

/// Both throw lockstep::Error as decode_image does. Neither lets a C library jump over a C++ object.
[[nodiscard]] Picture decode_png(const EncodedPicture& picture);
[[nodiscard]] Picture decode_jpeg(const EncodedPicture& picture);

/// Throws unless 1 <= height * width <= max_pixels.
void require_picture_size(const EncodedPicture& picture, std::int64_t height, std::int64_t width);
/// `format` is "PNG" or "JPEG", `reason` what its library says.
[[noreturn]] void throw_damaged(const EncodedPicture& picture, std::string_view format, std::string_view reason);

}  // namespace gemma4
