#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lockstep/diagnostic.hpp>

#include "processor/image_processor.hpp"

// Prints how long a picture takes from the file to its patches: all of it, and the part after decoding.

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

gemma4::ImageProcessorConfig settings() {
  gemma4::ImageProcessorConfig config;
  config.patch_size = 16;
  config.pooling_kernel_size = 3;
  config.max_soft_tokens = 280;
  config.rescale_factor = 1.0 / 255.0;
  return config;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: bench_process_image PICTURE RUNS\n", stderr);
    return 2;
  }
  try {
    std::vector<double> all, after_decoding;
    for (int i = 0; i < std::atoi(argv[2]); ++i) {
      const auto start = Clock::now();
      const std::vector pictures{gemma4::decode_image(argv[1])};
      const auto decoded = Clock::now();
      const auto inputs = process_images(pictures, settings());
      all.push_back(seconds_since(start));
      after_decoding.push_back(seconds_since(decoded));
    }
    fmt::print("{{\"seconds\": [{}], \"after_decoding\": [{}]}}\n", fmt::join(all, ", "),
               fmt::join(after_decoding, ", "));
  } catch (const lockstep::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
