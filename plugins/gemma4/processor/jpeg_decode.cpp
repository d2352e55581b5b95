#include <cstdio>  // jpeglib.h needs size_t and FILE

#include <jpeglib.h>

#include <jerror.h>  // its list of messages depends on jpeglib.h

#include <array>
#include <csetjmp>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

#include "processor/image_codecs.hpp"

namespace gemma4 {
namespace {

// A progressive file decodes the whole picture once for each scan; encoders write about ten.
constexpr int most_scans = 256;

/// Everything that libjpeg is asked for. Functions that call libjpeg must neither create nor destroy a C++ object
/// between setjmp and the call, as libjpeg's errors jump.
struct JpegReader {
  JpegReader() = default;
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;
  ~JpegReader() { jpeg_destroy_decompress(&codec); }

  jpeg_decompress_struct codec{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf jump{};
  std::array<char, JMSG_LENGTH_MAX> error{};
};

[[noreturn]] void on_error(j_common_ptr codec) {
  auto& reader = *static_cast<JpegReader*>(codec->client_data);
  codec->err->format_message(codec, reader.error.data());
  std::longjmp(reader.jump, 1);
}

/// libjpeg goes on after corrupt data, with grey or noise where the picture is lost.
bool loses_pixels(int message) {
  switch (message) {
    case JWRN_ARITH_BAD_CODE:
    case JWRN_BOGUS_PROGRESSION:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_JPEG_EOF:
    case JWRN_MUST_RESYNC:
      return true;
    default:
      return false;
  }
}

void on_message(j_common_ptr codec, int level) {
  if (level < 0 && loses_pixels(codec->err->msg_code)) on_error(codec);
}

void on_progress(j_common_ptr codec) {
  auto& reader = *static_cast<JpegReader*>(codec->client_data);
  if (reader.codec.input_scan_number <= most_scans) return;
  std::snprintf(reader.error.data(), reader.error.size(), "more than %d scans", most_scans);
  std::longjmp(reader.jump, 1);
}

bool read_header(JpegReader& reader, std::span<const std::byte> bytes) {
  reader.codec.err = jpeg_std_error(&reader.errors);
  reader.errors.error_exit = on_error;
  reader.errors.emit_message = on_message;
  reader.codec.client_data = &reader;
  if (setjmp(reader.jump) != 0) return false;
  jpeg_create_decompress(&reader.codec);
  reader.progress.progress_monitor = on_progress;
  reader.codec.progress = &reader.progress;
  jpeg_mem_src(&reader.codec, reinterpret_cast<const unsigned char*>(bytes.data()),
               static_cast<unsigned long>(bytes.size()));
  jpeg_read_header(&reader.codec, TRUE);
  return true;
}

bool start(JpegReader& reader, J_COLOR_SPACE color_space) {
  if (setjmp(reader.jump) != 0) return false;
  reader.codec.out_color_space = color_space;
  jpeg_start_decompress(&reader.codec);
  return true;
}

bool read_row(JpegReader& reader, std::uint8_t* row) {
  if (setjmp(reader.jump) != 0) return false;
  jpeg_read_scanlines(&reader.codec, &row, 1);
  return true;
}

/// What is left of `sample` under `black`: both as stored, where 255 means no ink.
std::uint8_t print(std::uint8_t sample, std::uint8_t black) {
  const int ink = (255 - sample) * black + 128;
  return static_cast<std::uint8_t>(black - (((ink >> 8) + ink) >> 8));  // divided by 255, rounded to nearest
}

void write_grey(std::span<const std::uint8_t> row, std::uint8_t* out) {
  for (const auto sample : row) {
    for (int c = 0; c < 3; ++c) *out++ = sample;
  }
}

/// Pillow takes every CMYK file for an inverted one, as Adobe writes them.
void write_inverted_cmyk(std::span<const std::uint8_t> row, std::uint8_t* out) {
  for (std::size_t i = 0; i < row.size(); i += 4) {
    for (std::size_t c = 0; c < 3; ++c) *out++ = print(row[i + c], row[i + 3]);
  }
}

J_COLOR_SPACE color_space_of(int channels) {
  switch (channels) {
    case 1:
      return JCS_GRAYSCALE;
    case 3:
      return JCS_RGB;
    case 4:
      return JCS_CMYK;
    default:
      return JCS_UNKNOWN;
  }
}

}  // namespace

Picture decode_jpeg(const EncodedPicture& encoded) {
  JpegReader reader;
  if (!read_header(reader, encoded.bytes)) throw_damaged(encoded, "JPEG", reader.error.data());
  require_picture_size(encoded, reader.codec.image_height, reader.codec.image_width);
  const auto color_space = color_space_of(reader.codec.num_components);
  if (color_space == JCS_UNKNOWN) {
    throw lockstep::Error{fmt::format("{}: the JPEG file has {} channels, expected 1 (grey), 3 (RGB) or 4 (CMYK)",
                                      encoded.name, reader.codec.num_components),
                          "save the picture as RGB"};
  }
  if (!start(reader, color_space)) throw_damaged(encoded, "JPEG", reader.error.data());

  Picture picture{reader.codec.image_height, reader.codec.image_width, {}};
  const auto row_size = static_cast<std::size_t>(picture.width * 3);
  picture.rgb.resize(static_cast<std::size_t>(picture.height) * row_size);
  std::vector<std::uint8_t> row(static_cast<std::size_t>(picture.width * reader.codec.num_components));
  for (std::int64_t y = 0; y < picture.height; ++y) {
    auto* const out = picture.rgb.data() + static_cast<std::size_t>(y) * row_size;
    if (!read_row(reader, color_space == JCS_RGB ? out : row.data())) {
      throw_damaged(encoded, "JPEG", reader.error.data());
    }
    if (color_space == JCS_GRAYSCALE) write_grey(row, out);
    if (color_space == JCS_CMYK) write_inverted_cmyk(row, out);
  }
  return picture;
}

}  // namespace gemma4
