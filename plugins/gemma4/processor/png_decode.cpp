#include <png.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "processor/image_codecs.hpp"

namespace gemma4 {
namespace {

// Deflate turns one byte into at most this many (258 bytes for a length code and a distance code of one bit each).
constexpr std::int64_t largest_deflate_ratio = 1032;

using Rgba = std::array<std::uint8_t, 4>;

/// Everything that libpng is asked for. Functions that call libpng must neither create nor destroy a C++ object between
/// setjmp and the call, as libpng's errors jump.
struct PngReader {
  explicit PngReader(std::span<const std::byte> source) : bytes(source) {}
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }

  std::span<const std::byte> bytes;
  std::array<char, 160> error{};
  png_structp png = nullptr;
  png_infop info = nullptr;

  png_uint_32 height = 0, width = 0;
  int bit_depth = 0, color_type = 0, interlace = 0, passes = 1;
  std::size_t row_bytes = 0;
  png_colorp palette = nullptr;
  int palette_size = 0;
  png_bytep alphas = nullptr;  ///< of the first palette entries
  int alphas_size = 0;
  png_color_16p transparent = nullptr;  ///< the colour that is transparent, of pictures without alpha and palette
};

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
  auto& reader = *static_cast<PngReader*>(png_get_error_ptr(png));
  std::strncpy(reader.error.data(), message, reader.error.size() - 1);
  png_longjmp(png, 1);
}

void ignore_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep out, std::size_t count) {
  auto& reader = *static_cast<PngReader*>(png_get_io_ptr(png));
  if (count > reader.bytes.size()) png_error(png, "truncated: the file ends within a chunk");
  std::memcpy(out, reader.bytes.data(), count);
  reader.bytes = reader.bytes.subspan(count);
}

bool read_header(PngReader& reader) {
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, on_error, ignore_warning);
  if (reader.png == nullptr) return false;
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  reader.info = png_create_info_struct(reader.png);
  if (reader.info == nullptr) png_error(reader.png, "not enough memory");
  png_set_read_fn(reader.png, &reader, read_bytes);
  png_set_benign_errors(reader.png, 0);
  png_set_crc_action(reader.png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
  // Text, colour profiles and the like do not change what Pillow decodes.
  png_set_keep_unknown_chunks(reader.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_set_check_for_invalid_index(reader.png, 0);                     // Pillow decodes them as black
  png_set_user_limits(reader.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // the number of pixels is limited instead
  png_read_info(reader.png, reader.info);
  png_get_IHDR(reader.png, reader.info, &reader.width, &reader.height, &reader.bit_depth, &reader.color_type,
               &reader.interlace, nullptr, nullptr);
  png_get_PLTE(reader.png, reader.info, &reader.palette, &reader.palette_size);
  png_get_tRNS(reader.png, reader.info, &reader.alphas, &reader.alphas_size, &reader.transparent);
  return true;
}

/// Rows of one byte per sample; 16-bit grey keeps both.
bool prepare_rows(PngReader& reader) {
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  png_set_packing(reader.png);
  if (reader.bit_depth == 16 && reader.color_type != PNG_COLOR_TYPE_GRAY) png_set_strip_16(reader.png);
  reader.passes = png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  reader.row_bytes = png_get_rowbytes(reader.png, reader.info);
  return true;
}

bool read_rows(PngReader& reader, std::uint8_t* rows) {
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  for (int pass = 0; pass < reader.passes; ++pass) {
    for (png_uint_32 y = 0; y < reader.height; ++y) {
      png_read_row(reader.png, rows + y * reader.row_bytes, nullptr);
    }
  }
  png_read_end(reader.png, nullptr);
  return true;
}

/// A few bytes may claim to be a large picture: seen before memory is asked for.
bool can_hold_rows(const PngReader& reader, std::size_t file_size) {
  const std::int64_t bits = std::int64_t{png_get_channels(reader.png, reader.info)} * reader.bit_depth;
  const std::int64_t raw_bytes = std::int64_t{reader.height} * ((std::int64_t{reader.width} * bits + 7) / 8);
  return raw_bytes / largest_deflate_ratio <= static_cast<std::int64_t>(file_size);
}

/// A sample over white, rounded to nearest: 255 * 255 is odd, so there are no ties.
constexpr std::uint8_t over_white(std::uint8_t sample, std::uint8_t alpha) {
  return static_cast<std::uint8_t>((2 * (sample * alpha + 255 * (255 - alpha)) + 255) / 510);
}

constexpr Rgba over_white(const Rgba& color) {
  return {over_white(color[0], color[3]), over_white(color[1], color[3]), over_white(color[2], color[3]), 255};
}

/// Indices beyond the palette are black.
std::array<Rgba, 256> palette_over_white(const PngReader& reader) {
  std::array<Rgba, 256> colors{};
  for (int i = 0; i < 256; ++i) {
    auto& color = colors[static_cast<std::size_t>(i)];
    if (i < reader.palette_size) color = {reader.palette[i].red, reader.palette[i].green, reader.palette[i].blue, 0};
    color[3] = i < reader.alphas_size ? reader.alphas[i] : 255;
    color = over_white(color);
  }
  return colors;
}

/// One RGB triple for each grey level. Fewer than 8 bits are spread over the range, as 0, 85, 170, 255.
std::array<std::uint8_t, 256> grey_levels(int bit_depth) {
  std::array<std::uint8_t, 256> levels{};
  const int largest = (1 << std::min(bit_depth, 8)) - 1;
  for (int i = 0; i <= largest; ++i) levels[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(i * 255 / largest);
  return levels;
}

/// Pillow compares a transparent colour with decoded samples of 8 bits, not with those of the file, and by its low
/// byte. Only at 1 bit does it scale it first.
std::uint8_t transparent_sample(png_uint_16 sample, int bit_depth) {
  if (bit_depth == 1) return sample != 0 ? 255 : 0;
  return static_cast<std::uint8_t>(sample & 0xFF);
}

class RgbWriter {
 public:
  explicit RgbWriter(Picture& picture) : out_(picture.rgb.data()) {}

  void put(std::uint8_t red, std::uint8_t green, std::uint8_t blue) {
    out_[0] = red;
    out_[1] = green;
    out_[2] = blue;
    out_ += 3;
  }

 private:
  std::uint8_t* out_;
};

void write_palette(const PngReader& reader, std::span<const std::uint8_t> rows, RgbWriter out) {
  const auto colors = palette_over_white(reader);
  for (const auto index : rows) out.put(colors[index][0], colors[index][1], colors[index][2]);
}

void write_grey(const PngReader& reader, std::span<const std::uint8_t> rows, RgbWriter out) {
  auto levels = grey_levels(reader.bit_depth);
  if (reader.transparent != nullptr) {
    const auto transparent = transparent_sample(reader.transparent->gray, reader.bit_depth);
    std::replace(levels.begin(), levels.end(), transparent, std::uint8_t{255});
  }
  const std::size_t step = reader.bit_depth == 16 ? 2 : 1;
  for (std::size_t i = 0; i < rows.size(); i += step) {
    const auto sample = step == 1 ? rows[i] : rows[i] != 0 ? std::uint8_t{255} : rows[i + 1];
    out.put(levels[sample], levels[sample], levels[sample]);
  }
}

void write_grey_alpha(std::span<const std::uint8_t> rows, RgbWriter out) {
  for (std::size_t i = 0; i < rows.size(); i += 2) {
    const auto grey = over_white(rows[i], rows[i + 1]);
    out.put(grey, grey, grey);
  }
}

void write_rgba(std::span<const std::uint8_t> rows, RgbWriter out) {
  for (std::size_t i = 0; i < rows.size(); i += 4) {
    const auto color = over_white(Rgba{rows[i], rows[i + 1], rows[i + 2], rows[i + 3]});
    out.put(color[0], color[1], color[2]);
  }
}

void whiten_transparent(const PngReader& reader, std::span<std::uint8_t> rgb) {
  const auto& color = *reader.transparent;
  const std::array transparent{transparent_sample(color.red, reader.bit_depth),
                               transparent_sample(color.green, reader.bit_depth),
                               transparent_sample(color.blue, reader.bit_depth)};
  for (std::size_t i = 0; i < rgb.size(); i += 3) {
    const auto pixel = rgb.subspan(i, 3);
    if (std::equal(pixel.begin(), pixel.end(), transparent.begin())) std::fill(pixel.begin(), pixel.end(), 255);
  }
}

}  // namespace

Picture decode_png(const EncodedPicture& encoded) {
  PngReader reader{encoded.bytes};
  const auto fail = [&] { throw_damaged(encoded, "PNG", reader.error[0] ? reader.error.data() : "not enough memory"); };
  if (!read_header(reader)) fail();
  require_picture_size(encoded, reader.height, reader.width);
  if (!can_hold_rows(reader, encoded.bytes.size())) {
    throw_damaged(encoded, "PNG",
                  fmt::format("truncated: its {} bytes are too few for {} x {} pixels", encoded.bytes.size(),
                              reader.width, reader.height));
  }
  if (!prepare_rows(reader)) fail();
  std::vector<std::uint8_t> rows(reader.height * reader.row_bytes);
  if (!read_rows(reader, rows.data())) fail();

  Picture picture{reader.height, reader.width, {}};
  if (reader.color_type == PNG_COLOR_TYPE_RGB) {
    picture.rgb = std::move(rows);
    if (reader.transparent != nullptr) whiten_transparent(reader, picture.rgb);
    return picture;
  }
  picture.rgb.resize(static_cast<std::size_t>(picture.height * picture.width * 3));
  const RgbWriter out{picture};
  switch (reader.color_type) {
    case PNG_COLOR_TYPE_PALETTE:
      write_palette(reader, rows, out);
      break;
    case PNG_COLOR_TYPE_GRAY:
      write_grey(reader, rows, out);
      break;
    case PNG_COLOR_TYPE_GRAY_ALPHA:
      write_grey_alpha(rows, out);
      break;
    default:
      write_rgba(rows, out);
      break;
  }
  return picture;
}

}  // namespace gemma4
