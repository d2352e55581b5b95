#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include <lockstep/diagnostic.hpp>

#include "processor/image_processor.hpp"

// Any bytes give an Error or a picture with three bytes for each pixel. The copy ends with the input, so that the
// address sanitizer sees one byte too many.

namespace {

constexpr std::int64_t max_pixels = 1 << 18;
constexpr std::size_t signature_size = 8, length_and_name_size = 8, checksum_size = 4;

std::size_t big_endian(const std::uint8_t* bytes) {
  return std::size_t{bytes[0]} << 24 | std::size_t{bytes[1]} << 16 | std::size_t{bytes[2]} << 8 | std::size_t{bytes[3]};
}

/// The same with the checksums that a PNG file should have: else nearly every change ends there.
std::vector<std::uint8_t> with_checksums(std::span<const std::uint8_t> input) {
  std::vector<std::uint8_t> bytes{input.begin(), input.end()};
  std::size_t at = signature_size;
  while (at + length_and_name_size + checksum_size <= bytes.size()) {
    const auto length = big_endian(bytes.data() + at);
    if (length > bytes.size() - at - length_and_name_size - checksum_size) break;
    const auto end = at + length_and_name_size + length;
    const auto checksum = crc32(0, bytes.data() + at + 4, static_cast<uInt>(length + 4));
    for (std::size_t i = 0; i < checksum_size; ++i) {
      bytes[end + i] = static_cast<std::uint8_t>(checksum >> (24 - 8 * i) & 0xFF);
    }
    at = end + checksum_size;
  }
  return bytes;
}

void decode(std::span<const std::uint8_t> input) {
  const std::unique_ptr<std::byte[]> copy{new std::byte[input.size()]};
  std::copy_n(std::as_bytes(input).begin(), input.size(), copy.get());
  try {
    const auto picture = gemma4::decode_image({copy.get(), input.size()}, "fuzz", max_pixels);
    const auto pixels = picture.height * picture.width;
    if (pixels < 1 || pixels > max_pixels || picture.rgb.size() != static_cast<std::size_t>(3 * pixels)) std::abort();
  } catch (const lockstep::Error&) {
    return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  decode({data, size});
  if (size > signature_size && data[0] == 0x89) decode(with_checksums({data, size}));
  return 0;
}
