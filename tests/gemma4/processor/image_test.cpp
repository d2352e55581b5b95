// What the image processor refuses, and what can be said of its output without a recording.

#include <unistd.h>

#include <fstream>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

#include "catch.hpp"
#include "processor/image_processor.hpp"

namespace {

using gemma4::ImageProcessorConfig;
using gemma4::Picture;

const std::filesystem::path kinds = LOCKSTEP_TEST_DATA "/images/kinds";

std::string bytes_of(const std::string& kind) {
  std::ifstream stream{kinds / kind, std::ios::binary};
  std::string bytes{std::istreambuf_iterator<char>{stream}, {}};
  REQUIRE(bytes.size() > 100);
  return bytes;
}

/// Message and help; empty if nothing is thrown.
template <class Function>
std::string error_of(Function function) {
  try {
    function();
  } catch (const lockstep::Error& error) {
    CHECK_FALSE(error.diagnostic().help.empty());
    return error.what();
  }
  return {};
}

std::string decode_error(const std::string& bytes, std::int64_t max_pixels = gemma4::max_picture_pixels) {
  return error_of(
      [&] { static_cast<void>(gemma4::decode_image(std::as_bytes(std::span{bytes}), "some.file", max_pixels)); });
}

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFF);
  return bytes;
}

/// A chunk of a PNG file with its checksum, as the PNG specification defines it.
std::string chunk(const std::string& name_and_data) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char byte : name_and_data) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
  }
  return big_endian(static_cast<std::uint32_t>(name_and_data.size() - 4)) + name_and_data + big_endian(~crc);
}

/// The file with another size in its header, whose checksum is right.
std::string png_of_size(std::uint32_t width, std::uint32_t height) {
  auto bytes = bytes_of("png_rgb_8.png");
  constexpr std::size_t header = 8, header_size = 4 + 4 + 13 + 4;
  const auto rest = bytes.substr(header + 16, 5);
  return bytes.replace(header, header_size, chunk("IHDR" + big_endian(width) + big_endian(height) + rest));
}

ImageProcessorConfig config() {
  ImageProcessorConfig settings;
  settings.patch_size = 16;
  settings.pooling_kernel_size = 3;
  settings.max_soft_tokens = 70;
  settings.rescale_factor = 1.0 / 255.0;
  return settings;
}

std::string settings_error(const ImageProcessorConfig& settings, std::optional<std::int64_t> max_soft_tokens = {}) {
  const std::array pictures{gemma4::white_picture(4, 4)};
  return error_of([&] { static_cast<void>(process_images(pictures, settings, max_soft_tokens)); });
}

}  // namespace

TEST_CASE("a picture cut off anywhere is an error that names the file") {
  for (const auto* kind : {"png_rgb_8.png", "png_palette_4_interlaced.png", "pillow_rgba.png", "jpeg_420_75.jpg",
                           "jpeg_progressive.jpg", "jpeg_cmyk.jpg", "jpeg_arithmetic.jpg"}) {
    const auto whole = bytes_of(kind);
    CAPTURE(kind);
    CHECK(decode_error(whole).empty());
    for (std::size_t size = 0; size < whole.size(); ++size) {
      CAPTURE(size);
      CHECK_THAT(decode_error(whole.substr(0, size)), contains_text("some.file: "));
    }
  }
}

TEST_CASE("a changed byte of a PNG file is found by its checksums") {
  const auto whole = bytes_of("png_rgb_8.png");
  for (std::size_t i = 8; i < whole.size(); ++i) {
    auto changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    CAPTURE(i);
    CHECK_THAT(decode_error(changed), contains_text("some.file: "));
  }
  auto data = bytes_of("pillow_rgb.png");
  data[data.size() - 12 - 1] ^= 1;  // IEND takes 12 bytes; before it ends the checksum of the last IDAT
  CHECK_THAT(decode_error(data), contains_text("the PNG file is damaged: IDAT: CRC error"));
}

TEST_CASE("corrupt data of a JPEG file is an error, not a grey picture") {
  // No Huffman code consists of ones only; in a scan a byte 0xFF is written as 0xFF, 0.
  auto bytes = bytes_of("jpeg_420_75.jpg");
  for (auto i = bytes.find("\xFF\xDA") + 14; i + 4 < bytes.size(); i += 2)
    bytes.replace(i, 2, std::string{"\xFF\0", 2});
  CHECK_THAT(decode_error(bytes), contains_text("some.file: the JPEG file is damaged: "));
}

TEST_CASE("a JPEG file whose data ends early but with an end marker is an error, too") {
  for (const auto* kind : {"jpeg_420_75.jpg", "jpeg_progressive.jpg", "jpeg_grey.jpg"}) {
    const auto whole = bytes_of(kind);
    CAPTURE(kind);
    CHECK_THAT(decode_error(whole.substr(0, whole.rfind("\xFF\xDA") + 24) + "\xFF\xD9"),
               contains_text("the JPEG file is damaged: Corrupt JPEG data: premature end of data segment"));
  }
}

TEST_CASE("a header that claims a huge picture is refused before memory is asked for") {
  CHECK_THAT(decode_error(png_of_size(100'000, 100'000)),
             contains_text("the picture is 100000 x 100000 pixels, expected at most 89478485 pixels"));
  CHECK_THAT(decode_error(png_of_size(0x7FFFFFFF, 0x7FFFFFFF)), contains_text("2147483647 x 2147483647 pixels"));
  CHECK_THAT(decode_error(png_of_size(9'000, 9'000)), contains_text("are too few for 9000 x 9000 pixels"));
  CHECK_THAT(decode_error(png_of_size(0, 5)), contains_text("some.file: "));

  auto jpeg = bytes_of("jpeg_420_75.jpg");
  const auto frame = jpeg.find("\xFF\xC0");
  REQUIRE(frame != std::string::npos);
  jpeg.replace(frame + 5, 4, "\xFF\xDC\xFF\xDC");
  CHECK_THAT(decode_error(jpeg), contains_text("the picture is 65500 x 65500 pixels"));
}

TEST_CASE("the number of pixels is limited, not the length of a side") {
  const auto bytes = bytes_of("png_rgb_8.png");  // 13 x 11
  CHECK(decode_error(bytes, 143).empty());
  CHECK_THAT(decode_error(bytes, 142), contains_text("13 x 11 pixels, expected at most 142 pixels"));
}

TEST_CASE("what is no picture is named for what it is") {
  CHECK_THAT(decode_error(""), contains_text("some.file: the file is empty, expected a picture"));
  CHECK_THAT(decode_error("GIF89a, and more"),
             contains_text("neither PNG nor JPEG, the file begins with the bytes 47 49 46 38 39 61 2c 20"));
  CHECK_THAT(decode_error("\xFF\xD8"), contains_text("begins with the bytes ff d8"));
}

TEST_CASE("a path that is no readable file is an error that names it") {
  const auto error_of_file = [](const std::filesystem::path& file) {
    return error_of([&] { static_cast<void>(gemma4::decode_image(file)); });
  };
  CHECK_THAT(error_of_file("no/such.png"), contains_text("no/such.png: no such file"));
  CHECK_THAT(error_of_file(kinds), contains_text("kinds: not a regular file"));
  CHECK_THAT(error_of_file("/dev/zero"), contains_text("/dev/zero: not a regular file"));
  const auto empty = std::filesystem::temp_directory_path() / fmt::format("lockstep-empty-{}.png", ::getpid());
  std::ofstream{empty}.flush();
  CHECK_THAT(error_of_file(empty), contains_text(empty.string() + ": the file is empty"));
  std::filesystem::remove(empty);
}

TEST_CASE("a JPEG of two channels is refused") {
  auto bytes = bytes_of("jpeg_444_75.jpg");
  const auto frame = bytes.find("\xFF\xC0"), frame_end = frame + 19;
  REQUIRE(frame != std::string::npos);
  bytes[frame + 3] = 14;  // the length of the frame header, less the three bytes of a component
  bytes[frame + 9] = 2;
  bytes.erase(frame_end - 3, 3);
  const auto scan = bytes.find("\xFF\xDA");
  bytes[scan + 3] = 10;
  bytes[scan + 4] = 2;
  bytes.erase(scan + 9, 2);
  CHECK_THAT(decode_error(bytes), contains_text("the JPEG file has 2 channels, expected 1 (grey), 3 (RGB)"));
}

TEST_CASE("settings that are not implemented are refused by name") {
  CHECK(settings_error(config()).empty());
  auto settings = config();
  settings.do_normalize = true;
  CHECK_THAT(settings_error(settings), contains_text("do_normalize is true, only false is implemented"));
  settings = config();
  settings.do_resize = false;
  CHECK_THAT(settings_error(settings), contains_text("do_resize is false"));
  settings = config();
  settings.do_rescale = false;
  CHECK_THAT(settings_error(settings), contains_text("do_rescale is false"));
  settings = config();
  settings.do_convert_rgb = false;
  CHECK_THAT(settings_error(settings), contains_text("do_convert_rgb is false"));
  settings = config();
  settings.max_soft_tokens = 71;
  CHECK_THAT(settings_error(settings), contains_text("max_soft_tokens is 71, expected one of 70, 140, 280, 560, 1120"));
  CHECK_THAT(settings_error(config(), 0), contains_text("max_soft_tokens is 0"));
  CHECK(settings_error(settings, 1120).empty());
}

TEST_CASE("a picture without pixels is refused, and one whose pixels are not as many as its size says") {
  CHECK_THAT(error_of([] { static_cast<void>(target_size({0, 5}, config(), 70)); }), contains_text("5 x 0 pixels"));
  CHECK_THAT(error_of([] { static_cast<void>(gemma4::white_picture(0, 5)); }), contains_text("5 x 0 pixels"));
  Picture wrong = gemma4::white_picture(4, 4);
  wrong.rgb.pop_back();
  CHECK_THROWS_AS(process_images(std::array{wrong}, config()), lockstep::Error);
}

TEST_CASE("without room for one soft token there is no size") {
  CHECK_THAT(error_of([] {
               static_cast<void>(target_size({500, 500}, config(), 0));
             }),
             contains_text("no side reaches 48 pixels"));
}

TEST_CASE("a white picture gives ones in its patches, zeros and position -1 in the padding") {
  const std::array pictures{gemma4::white_picture(240, 624)};  // 15 x 39 patches
  const auto inputs = process_images(pictures, config());
  const auto pixels = inputs.pixel_values.values<float>();
  const auto positions = inputs.image_position_ids.values<std::int64_t>();
  REQUIRE(pixels.size() == 630 * 768);
  REQUIRE(positions.size() == 630 * 2);
  const auto valid = pixels.first(585 * 768);
  CHECK(std::all_of(valid.begin(), valid.end(), [](float value) { return value == 1.0F; }));
  const auto padding = pixels.subspan(valid.size());
  CHECK(std::all_of(padding.begin(), padding.end(), [](float value) { return value == 0.0F; }));
  for (std::int64_t i = 0; i < 630; ++i) {
    const auto x = i < 585 ? i % 39 : -1, y = i < 585 ? i / 39 : -1;
    CHECK(positions[static_cast<std::size_t>(2 * i)] == x);
    CHECK(positions[static_cast<std::size_t>(2 * i + 1)] == y);
  }
  CHECK(inputs.num_soft_tokens == std::vector<std::int64_t>{65});
}
