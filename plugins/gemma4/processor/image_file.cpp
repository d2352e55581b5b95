#include <lockstep/diagnostic.hpp>

#include "processor/image_processor.hpp"
#include "processor/json_file.hpp"

namespace gemma4 {
namespace {

// More than max_picture_pixels take without any compression, with 16 bits for each of four channels.
constexpr std::uintmax_t largest_file = std::uintmax_t{1} << 30;

std::string read_picture(const std::filesystem::path& file) {
  try {
    return read_file(file, largest_file);
  } catch (const lockstep::Error& error) {
    throw lockstep::Error{error.what(), "give the path of a PNG or JPEG file"};
  }
}

}  // namespace

Picture decode_image(const std::filesystem::path& file) {
  const auto bytes = read_picture(file);
  return decode_image(std::as_bytes(std::span{bytes}), file.string());
}

}  // namespace gemma4
