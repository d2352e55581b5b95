// image_dump PROCESSOR_CONFIG SOFT_TOKENS OUT.safetensors PICTURE…
//
// Processes the pictures together and writes what comes out, so that scripts can compare it with other processors:
// {i}.rgb_u8 [H, W, 3], {i}.resized_u8, pixel_values, position_ids, num_soft_tokens.

#include <cstdlib>
#include <iostream>

#include <lockstep/diagnostic.hpp>
#include <lockstep/safetensors.hpp>

#include "processor/image_processor.hpp"

namespace {

using lockstep::Tensor;

void run(const std::filesystem::path& processor_config, std::int64_t soft_tokens, const std::filesystem::path& out,
         std::span<char*> files) {
  gemma4::VisionConfig vision;
  vision.patch_size = 16;
  vision.pooling_kernel_size = 3;
  const auto config = gemma4::read_image_processor_config(processor_config, vision);

  std::vector<gemma4::Picture> pictures;
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (const auto* file : files) {
    pictures.push_back(gemma4::decode_image(file));
    const auto& picture = pictures.back();
    tensors.emplace_back(
        std::to_string(pictures.size() - 1) + ".rgb_u8",
        Tensor::copy_of(std::span<const std::uint8_t>{picture.rgb}, {picture.height, picture.width, 3}));
  }
  const auto inputs = gemma4::process_images(pictures, config, soft_tokens);
  for (std::size_t i = 0; i < inputs.resized.size(); ++i) {
    tensors.emplace_back(std::to_string(i) + ".resized_u8", inputs.resized[i]);
  }
  tensors.emplace_back("pixel_values", inputs.pixel_values);
  tensors.emplace_back("position_ids", inputs.image_position_ids);
  tensors.emplace_back("num_soft_tokens", Tensor::copy_of(std::span<const std::int64_t>{inputs.num_soft_tokens},
                                                          {static_cast<std::int64_t>(pictures.size())}));
  lockstep::write_safetensors(out, tensors);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: image_dump PROCESSOR_CONFIG SOFT_TOKENS OUT.safetensors PICTURE…\n";
    return 2;
  }
  try {
    run(argv[1], std::atoll(argv[2]), argv[3], std::span{argv, static_cast<std::size_t>(argc)}.subspan(4));
  } catch (const lockstep::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
