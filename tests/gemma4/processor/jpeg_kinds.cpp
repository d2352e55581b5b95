// jpeg_kinds FOLDER
//
// Writes JPEG files of kinds that Pillow reads but cannot write: chroma sampled by half along one axis only or by a
// quarter, arithmetic coding, YCCK.

#include <cstdio>  // jpeglib.h needs size_t and FILE

#include <jpeglib.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace {

struct Kind {
  std::string name;
  int horizontal = 1, vertical = 1;  ///< samples of luma for one of chroma
  bool arithmetic = false, progressive = false;
  int channels = 3;
};

/// Gradients, edges and a texture, different in each channel.
std::vector<JSAMPLE> scene(unsigned height, unsigned width, int channels) {
  std::vector<JSAMPLE> samples;
  for (unsigned y = 0; y < height; ++y) {
    for (unsigned x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        const unsigned wave = x * (5U + static_cast<unsigned>(c)) + y * 3U, edge = (x / 7U + y / 5U) % 2U * 90U;
        samples.push_back(static_cast<JSAMPLE>((wave + edge + (x * y * 31U) % 23U) % 256U));
      }
    }
  }
  return samples;
}

void write(const Kind& kind, const std::filesystem::path& file, unsigned height, unsigned width) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out{std::fopen(file.c_str(), "wb"), std::fclose};
  if (!out) throw std::runtime_error{"cannot write " + file.string()};
  auto samples = scene(height, width, kind.channels);
  jpeg_compress_struct codec{};
  jpeg_error_mgr errors{};
  codec.err = jpeg_std_error(&errors);  // a failure ends this program
  jpeg_create_compress(&codec);
  jpeg_stdio_dest(&codec, out.get());
  codec.image_height = height;
  codec.image_width = width;
  codec.input_components = kind.channels;
  codec.in_color_space = kind.channels == 4 ? JCS_CMYK : JCS_RGB;
  jpeg_set_defaults(&codec);
  if (kind.channels == 4) jpeg_set_colorspace(&codec, JCS_YCCK);
  jpeg_set_quality(&codec, 80, TRUE);
  codec.arith_code = kind.arithmetic ? TRUE : FALSE;
  for (int c = 0; c < codec.num_components; ++c) {
    const bool chroma = c == 1 || c == 2;
    codec.comp_info[c].h_samp_factor = chroma ? 1 : kind.horizontal;
    codec.comp_info[c].v_samp_factor = chroma ? 1 : kind.vertical;
  }
  if (kind.progressive) jpeg_simple_progression(&codec);
  jpeg_start_compress(&codec, TRUE);
  while (codec.next_scanline < height) {
    auto* row = samples.data() + codec.next_scanline * width * static_cast<unsigned>(kind.channels);
    jpeg_write_scanlines(&codec, &row, 1);
  }
  jpeg_finish_compress(&codec);
  jpeg_destroy_compress(&codec);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: jpeg_kinds FOLDER\n";
    return 2;
  }
  const std::vector<Kind> kinds{{"jpeg_440", 1, 2},
                                {"jpeg_411", 4, 1},
                                {"jpeg_410", 4, 2},
                                {"jpeg_arithmetic", 2, 2, true},
                                {"jpeg_arithmetic_progressive", 2, 2, true, true},
                                {"jpeg_ycck", 2, 2, false, false, 4}};
  for (const auto& kind : kinds) write(kind, std::filesystem::path{argv[1]} / (kind.name + ".jpg"), 43, 61);
}
