#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lockstep/diagnostic.hpp>

#include "processor/image_codecs.hpp"

namespace gemma4 {
namespace {

constexpr std::array<std::uint8_t, 8> png_signature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
constexpr std::array<std::uint8_t, 3> jpeg_signature{0xFF, 0xD8, 0xFF};

bool starts_with(std::span<const std::byte> bytes, std::span<const std::uint8_t> signature) {
  return bytes.size() >= signature.size() &&
         std::equal(signature.begin(), signature.end(), bytes.begin(),
                    [](std::uint8_t expected, std::byte found) { return std::byte{expected} == found; });
}

/// "89 50 4e 47"
std::string first_bytes(std::span<const std::byte> bytes) {
  const auto shown = bytes.first(std::min<std::size_t>(bytes.size(), png_signature.size()));
  std::vector<int> values;
  for (const auto byte : shown) values.push_back(std::to_integer<int>(byte));
  return fmt::format("{:02x}", fmt::join(values, " "));
}

}  // namespace

void require_picture_size(const EncodedPicture& picture, std::int64_t height, std::int64_t width) {
  if (height < 1 || width < 1) {
    throw lockstep::Error{
        fmt::format("{}: the picture is {} x {} pixels, expected at least 1 x 1", picture.name, width, height),
        "give another picture"};
  }
  if (height > picture.max_pixels / width) {
    throw lockstep::Error{fmt::format("{}: the picture is {} x {} pixels, expected at most {} pixels", picture.name,
                                      width, height, picture.max_pixels),
                          "scale the picture down before; the image processor does so in any case"};
  }
}

void throw_damaged(const EncodedPicture& picture, std::string_view format, std::string_view reason) {
  throw lockstep::Error{fmt::format("{}: the {} file is damaged: {}", picture.name, format, reason),
                        "copy the file again, or open the picture in an image editor and save it anew"};
}

Picture decode_image(std::span<const std::byte> bytes, std::string_view name, std::int64_t max_pixels) {
  const EncodedPicture picture{bytes, name, max_pixels};
  if (starts_with(bytes, png_signature)) return decode_png(picture);
  if (starts_with(bytes, jpeg_signature)) return decode_jpeg(picture);
  constexpr auto help = "give a PNG or JPEG file; convert pictures of other formats";
  if (bytes.empty()) throw lockstep::Error{fmt::format("{}: the file is empty, expected a picture", name), help};
  throw lockstep::Error{
      fmt::format("{}: neither PNG nor JPEG, the file begins with the bytes {}", name, first_bytes(bytes)), help};
}

Picture white_picture(std::int64_t height, std::int64_t width) {
  constexpr std::uint8_t white = 255;
  require_picture_size({{}, "the white picture"}, height, width);
  return {height, width, std::vector(static_cast<std::size_t>(height * width * 3), white)};
}

}  // namespace gemma4
