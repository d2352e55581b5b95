#include "steps/recorded_images.hpp"

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/safetensors.hpp>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "processor/image_processor.hpp"

namespace gemma4 {
namespace {

using lockstep::DType;
using lockstep::Error;
using lockstep::Tensor;

/// [height, width, 3] seen as [3, height, width].
Tensor channels_first(std::shared_ptr<const Picture> picture) {
  const auto* data = picture->rgb.data();
  const std::vector<std::int64_t> sizes{3, picture->height, picture->width}, strides{1, 3 * picture->width, 3};
  return {std::move(picture), data, DType::uint8, sizes, strides};
}

}  // namespace

RecordedPixels process_recorded_images(const Recording& recording, const Checkpoint& checkpoint,
                                       const std::filesystem::path& folder, const lockstep::TensorVisitor& taps) {
  const auto& settings = checkpoint.image_processor();
  if (!settings) {
    throw Error{fmt::format("the recording has pictures, checkpoint '{}' has no image processor", checkpoint.name())};
  }
  std::vector<Picture> pictures;
  for (const auto& image : recording.inputs().images) {
    const auto file = folder / image.name;
    if (!std::filesystem::exists(file)) {
      throw Error{fmt::format("{}: no such file, but the recording was made with it", file.string()),
                  "set images to the folder with the recorded pictures, or leave it out"};
    }
    if (const auto found = lockstep::sha256_of_file(file); found != image.sha256) {
      throw Error{fmt::format("{}: sha256 is {}, recorded with {}", file.string(), found, image.sha256),
                  "set images to the folder with the recorded pictures, or leave it out"};
    }
    const auto picture = std::make_shared<const Picture>(decode_image(file));
    taps(fmt::format("img.{}.rgb_u8", pictures.size()), channels_first(picture));
    pictures.push_back(*picture);
  }
  auto inputs = process_images(pictures, *settings, recording.soft_tokens());
  for (std::size_t i = 0; i < inputs.resized.size(); ++i) taps(fmt::format("img.{}.resized_u8", i), inputs.resized[i]);
  taps("img.pixel_values", inputs.pixel_values);
  taps("img.position_ids", inputs.image_position_ids);
  const std::span<const std::int64_t> counts(inputs.num_soft_tokens);
  taps("img.num_soft_tokens", Tensor::copy_of(counts, {std::ssize(inputs.num_soft_tokens)}));
  return {std::move(inputs.pixel_values), std::move(inputs.image_position_ids), std::move(inputs.num_soft_tokens)};
}

RecordedPixels taken_pixels(const Recording& recording) {
  const auto input = [&](const std::string& name) {
    if (const auto damage = recording.damage(name)) throw Error{*damage, "record again with tools/record_hf.py"};
    if (auto values = recording.values(name)) return values->contiguous();
    throw Error{fmt::format("{}: the recording has no values of {}, which the reference starts from",
                            recording.folder().string(), name),
                "set images to the folder with the recorded pictures"};
  };
  const auto counts = input("img.num_soft_tokens");
  const auto soft_tokens = counts.values<std::int64_t>();
  return {input("img.pixel_values"), input("img.position_ids"), {soft_tokens.begin(), soft_tokens.end()}};
}

}  // namespace gemma4
