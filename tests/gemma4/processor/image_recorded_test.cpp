// Compares with what transformers' image processor gives (tests/data/images/README.md).

#include <fstream>
#include <nlohmann/json.hpp>

#include <lockstep/diagnostic.hpp>
#include <lockstep/safetensors.hpp>

#include "catch.hpp"
#include "processor/image_processor.hpp"

namespace {

using gemma4::ImageProcessorConfig;
using gemma4::Picture;
using gemma4::PictureSize;
using lockstep::Tensor;
using nlohmann::json;

const std::filesystem::path images = LOCKSTEP_TEST_DATA "/images";
const std::filesystem::path pipeline_images = LOCKSTEP_SOURCE_DIR "/pipelines/data/images";

ImageProcessorConfig config(std::int64_t patch_size = 16, std::int64_t pooling_kernel_size = 3) {
  ImageProcessorConfig settings;
  settings.patch_size = patch_size;
  settings.pooling_kernel_size = pooling_kernel_size;
  settings.max_soft_tokens = 280;
  settings.rescale_factor = 1.0 / 255.0;
  return settings;
}

json read(const std::filesystem::path& file) { return json::parse(std::ifstream{file}); }

std::string sha256(const Tensor& tensor) {
  return lockstep::sha256({tensor.data(), static_cast<std::size_t>(tensor.numel()) * element_size(tensor.dtype())});
}

/// The picture as the recordings hold it: [3, height, width].
Tensor planes(const Picture& picture) {
  std::vector<std::uint8_t> values(picture.rgb.size());
  const auto pixels = values.size() / 3;
  for (std::size_t i = 0; i < values.size(); ++i) values[i % 3 * pixels + i / 3] = picture.rgb[i];
  return Tensor::copy_of(std::span<const std::uint8_t>{values}, {3, picture.height, picture.width});
}

/// Two of the recorded pictures also belong to a pipeline.
Picture recorded_picture(const json& recorded) {
  const auto name = std::filesystem::path{recorded.at("file").get<std::string>()}.filename();
  const auto file = exists(images / name) ? images / name : pipeline_images / name;
  REQUIRE(lockstep::sha256_of_file(file) == recorded.at("file_sha256").get<std::string>());
  return gemma4::decode_image(file);
}

}  // namespace

TEST_CASE("every recorded picture gives transformers' pixels, sizes, patches and positions") {
  const auto recording = read(images / "image_cases.json");
  REQUIRE(recording.at("cases").size() == 12);
  for (const auto& recorded : recording.at("cases")) {
    CAPTURE(recorded.at("name").get<std::string>());
    const std::array pictures{recorded_picture(recorded)};
    const auto& expected = recorded.at("sha256");
    CHECK(sha256(planes(pictures[0])) == expected.at("rgb_u8").get<std::string>());

    const auto inputs =
        gemma4::process_images(pictures, config(), recorded.at("soft_token_budget").get<std::int64_t>());
    REQUIRE(inputs.resized.size() == 1);
    CHECK(inputs.resized[0].sizes() == std::vector<std::int64_t>{3, recorded.at("target_height").get<std::int64_t>(),
                                                                 recorded.at("target_width").get<std::int64_t>()});
    CHECK(sha256(inputs.resized[0]) == expected.at("resized_u8").get<std::string>());
    CHECK(sha256(inputs.pixel_values) == expected.at("pixel_values").get<std::string>());
    CHECK(sha256(inputs.image_position_ids) == expected.at("position_ids").get<std::string>());
    CHECK(inputs.num_soft_tokens == std::vector{recorded.at("soft_tokens").get<std::int64_t>()});
  }
}

TEST_CASE("a PNG or JPEG of every kind decodes to the pixels that Pillow gives transformers") {
  const auto recording = read(images / "kinds.json");
  REQUIRE(recording.at("kinds").size() >= 100);
  for (const auto& recorded : recording.at("kinds")) {
    const auto file = images / "kinds" / recorded.at("file").get<std::string>();
    CAPTURE(file);
    REQUIRE(lockstep::sha256_of_file(file) == recorded.at("file_sha256").get<std::string>());
    const auto picture = gemma4::decode_image(file);
    CHECK(picture.height == recorded.at("height").get<std::int64_t>());
    CHECK(picture.width == recorded.at("width").get<std::int64_t>());
    CHECK(lockstep::sha256(std::as_bytes(std::span{picture.rgb})) == recorded.at("rgb_sha256").get<std::string>());
  }
}

TEST_CASE("pictures of one prompt keep their own sizes and are padded to the same number of patches") {
  const auto recording = read(images / "image_cases.json");
  std::vector<Picture> pictures;
  std::vector<std::int64_t> soft_tokens;
  std::vector<std::string> pixels, positions;
  for (const auto& recorded : recording.at("cases")) {
    if (recorded.at("soft_token_budget") != 70) continue;
    pictures.push_back(recorded_picture(recorded));
    soft_tokens.push_back(recorded.at("soft_tokens"));
    pixels.push_back(recorded.at("sha256").at("pixel_values"));
    positions.push_back(recorded.at("sha256").at("position_ids"));
  }
  REQUIRE(pictures.size() == 9);
  const auto inputs = gemma4::process_images(pictures, config(), 70);
  CHECK(inputs.num_soft_tokens == soft_tokens);
  CHECK(inputs.pixel_values.sizes() == std::vector<std::int64_t>{9, 630, 768});
  CHECK(inputs.image_position_ids.sizes() == std::vector<std::int64_t>{9, 630, 2});
  const auto pixel_bytes = std::as_bytes(inputs.pixel_values.values<float>());
  const auto position_bytes = std::as_bytes(inputs.image_position_ids.values<std::int64_t>());
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const auto size = pixel_bytes.size() / 9, position_size = position_bytes.size() / 9;
    CHECK(lockstep::sha256(pixel_bytes.subspan(i * size, size)) == pixels[i]);
    CHECK(lockstep::sha256(position_bytes.subspan(i * position_size, position_size)) == positions[i]);
  }
}

// From the size tests of transformers 5.23 (tests/models/gemma4/test_image_processing_gemma4.py), then sizes that its
// get_aspect_ratio_preserving_size gives for the processor's own patches.
TEST_CASE("the target size is transformers'") {
  struct Case {
    std::int64_t patch_size, max_patches, pooling_kernel_size;
    PictureSize picture, target;
  };
  const std::vector<Case> cases{
      {16, 256, 1, {512, 512}, {256, 256}},  {10, 200, 1, {50, 10000}, {10, 2000}},
      {16, 2304, 6, {2785, 34}, {6144, 96}}, {4, 64, 2, {50, 1000}, {8, 128}},
      {16, 2520, 3, {512, 512}, {768, 768}}, {16, 2520, 3, {224, 224}, {768, 768}},
      {16, 2520, 3, {480, 640}, {672, 912}}, {16, 2520, 3, {1080, 1920}, {576, 1056}},
      {16, 2520, 3, {672, 960}, {672, 960}}, {16, 2520, 3, {900, 3}, {13440, 48}},
      {16, 2520, 3, {30, 3000}, {48, 8016}}, {16, 2520, 3, {1, 300}, {48, 13440}},
  };
  for (const auto& [patch_size, max_patches, pooling_kernel_size, picture, target] : cases) {
    CAPTURE(patch_size, picture.height, picture.width);
    const auto kernel_area = pooling_kernel_size * pooling_kernel_size;
    REQUIRE(max_patches % kernel_area == 0);
    const auto found = target_size(picture, config(patch_size, pooling_kernel_size), max_patches / kernel_area);
    CHECK(found.height == target.height);
    CHECK(found.width == target.width);
  }
}
