// build_static_inputs for prompts with a picture. Expected values: tests/data/vision and tests/data/reference, recorded
// from transformers.

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include <lockstep/safetensors.hpp>

#include <lockstep/testing.hpp>

#include "catch.hpp"
#include "gemma4/checkpoint/checkpoint_folder.hpp"
#include "gemma4/runtime/pictures.hpp"
#include "gemma4/runtime/tensors.hpp"
#include "gemma4/steps/runtimes.hpp"
#include "processor/tokenizer.hpp"

using namespace gemma4::test;
using gemma4::Runtime;
using gemma4::StaticBatch;
using lockstep::DType;
using lockstep::StepBench;
using lockstep::Tensor;
using lockstep::Verdict;

namespace {

using Names = std::vector<std::string>;

const std::string raw_prompt = "<|image|>Describe the image.";
constexpr std::size_t number_of_checks = 17;

std::string picture_file(const std::string& name) {
  return std::string(LOCKSTEP_SOURCE_DIR) + "/pipelines/data/images/" + name;
}
std::shared_ptr<const Runtime> runtime_of(const std::string& profile, std::int64_t max_seq = 160) {
  return gemma4::make_static_runtime(shapes_checkpoint(),
                                     {.profile = gemma4::find_profile(profile), .max_seq = max_seq});
}
StepBench prepared(std::shared_ptr<const Runtime> runtime, const std::string& prompt, const std::string& picture) {
  StepBench bench("gemma4.build_static_inputs");
  bench.bind("checkpoint", shapes_checkpoint()).bind("runtime", std::move(runtime)).set("prompt", prompt);
  if (!picture.empty()) bench.set("image", picture_file(picture));
  return bench;
}
StepBench run_step(const std::string& profile, const std::string& prompt, const std::string& picture) {
  auto bench = prepared(runtime_of(profile), prompt, picture);
  bench.run();
  CHECK_FALSE(bench.error());
  return bench;
}
/// Checks that fail when the runtime's batch of a prompt with a picture is damaged.
Names fails_with(std::function<void(StaticBatch&)> damage) {
  const auto faulty = std::make_shared<FaultyRuntime>(runtime_of("shapes_24x24_64"));
  faulty->damage_batch = std::move(damage);
  auto bench = prepared(faulty, raw_prompt, "two_384.png");
  bench.run();
  CHECK_FALSE(bench.error());
  CHECK(bench.output<StaticBatch>("batch"));
  return bench.with(Verdict::fail);
}
/// The message of the one failed check, after making sure that nothing was published.
std::string only_failure(const StepBench& bench, const std::string& check) {
  CHECK(bench.with(Verdict::fail) == Names{check});
  CHECK_FALSE(bench.output<StaticBatch>("batch"));
  return bench.result(check).message.value_or("");
}
std::vector<std::int64_t> recorded_ids(const std::string& recording) {
  return values_of(
      lockstep::SafetensorsFile::open(LOCKSTEP_TEST_DATA "/reference/" + recording + ".safetensors").at("tok.ids"));
}
bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() && a.is_contiguous() && b.is_contiguous() &&
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.numel()) * element_size(a.dtype())) == 0;
}
std::vector<float> floats_of(const Tensor& tensor) {
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("a raw prompt with a picture has transformers' ids and pixels and passes all checks") {
  const auto bench = run_step("shapes_24x24_64", raw_prompt, "two_384.png");
  CHECK(bench.with(Verdict::pass).size() == number_of_checks);
  const auto batch = bench.output<StaticBatch>("batch");
  REQUIRE(batch);
  CHECK(values_of(batch->raw_input_ids) == recorded_ids("two_raw_bf16"));
  REQUIRE(batch->pixel_values);
  CHECK(same_bits(*batch->pixel_values, pixels_of(vision_recording("two_describe_fp32").at("img.0.resized_u8"),
                                                  gemma4::find_profile("shapes_24x24_64"))));
  REQUIRE(batch->image_position_ids);
  const auto places = values_of(*batch->image_position_ids);
  CHECK(std::vector<std::int64_t>(places.begin() + 48, places.begin() + 52) == std::vector<std::int64_t>{0, 1, 1, 1});
  CHECK(std::count(places.begin(), places.end(), -1) == 2 * 54);
}

TEST_CASE("a chat prompt with a picture that must be resized has transformers' ids and pixels") {
  auto bench = prepared(runtime_of("shapes_39x15_65_chat"), "<|image|>How many shapes are there?", "wide_odd.png");
  bench.set("prompt_format", "chat").run();
  CHECK_FALSE(bench.error());
  CHECK(bench.with(Verdict::pass).size() == number_of_checks);
  const auto batch = bench.output<StaticBatch>("batch");
  REQUIRE(batch);
  CHECK(values_of(batch->raw_input_ids) == recorded_ids("wide_count_fp32"));
  CHECK(same_bits(batch->pixel_values.value(), pixels_of(vision_recording("wide_count_fp32").at("img.0.resized_u8"),
                                                         gemma4::find_profile("shapes_39x15_65_chat"))));
}

TEST_CASE("a placeholder without a picture gets a plain white one of the profile's size") {
  const auto bench = run_step("shapes_24x24_64", raw_prompt, "");
  CHECK(bench.with(Verdict::pass).size() == number_of_checks);
  const auto pixels = floats_of(bench.output<StaticBatch>("batch")->pixel_values.value());
  // 255 times float32(1 / 255) is 1.
  CHECK(std::all_of(pixels.begin(), pixels.begin() + 576 * 768, [](float v) { return v == 1.0F; }));
  CHECK(std::all_of(pixels.begin() + 576 * 768, pixels.end(), [](float v) { return v == 0.0F; }));
  REQUIRE(bench.recorded().size() == 1);
  CHECK(bench.recorded()[0].first == "picture");
}

TEST_CASE("an empty path is no picture") {
  auto bench = prepared(runtime_of("shapes_24x24_64"), "Describe the image.", "");
  bench.set("image", "");
  CHECK(bench.problems().empty());
  bench.run();
  CHECK(bench.with(Verdict::pass).size() == number_of_checks);
  CHECK_FALSE(bench.output<StaticBatch>("batch")->pixel_values);
}

TEST_CASE("a picture without a placeholder is refused before anything runs, with both settings named") {
  auto bench = prepared(runtime_of("shapes_24x24_64"), "Describe the image.", "two_384.png");
  REQUIRE(bench.problems().size() == 1);
  CHECK_THAT(bench.problems()[0],
             contains_text("with.image: P020: step 'bench': image is given, but prompt has no <|image|>"));
  bench.set("prompt", raw_prompt);
  CHECK(bench.problems().empty());
}

TEST_CASE("two placeholders fail one_picture") {
  const auto bench = run_step("shapes_24x24_64", "<|image|><|image|>Compare.", "two_384.png");
  CHECK_THAT(only_failure(bench, "one_picture"), contains_text("2 <|image|>, expected at most 1"));
}

TEST_CASE("a picture that starts elsewhere fails visual_start with both slots") {
  const auto bench = run_step("shapes_24x24_64", "See <|image|>.", "two_384.png");
  const auto message = only_failure(bench, "visual_start");
  CHECK_THAT(message, contains_text("expected slot 1 (visual_start_idx of profile 'shapes_24x24_64')"));
  CHECK_THAT(message, contains_text("change prompt or prompt_format"));
  auto chat = prepared(runtime_of("shapes_24x24_64"), raw_prompt, "two_384.png");
  chat.set("prompt_format", "chat").run();
  CHECK_THAT(only_failure(chat, "visual_start"), contains_text("first image token is in slot 5, expected slot 1"));
}

TEST_CASE("a picture of another size fails picture_fits_profile and visual_count, with expected and actual") {
  const auto bench = run_step("shapes_24x24_64", raw_prompt, "wide_odd.png");
  CHECK(bench.with(Verdict::fail) == Names{"picture_fits_profile", "visual_count"});
  CHECK_THAT(
      bench.result("picture_fits_profile").message.value(),
      contains_text("becomes 240 x 624 pixels (height x width), expected 384 x 384") && contains_text("change image"));
  CHECK_THAT(bench.result("visual_count").message.value(), contains_text("65 image tokens, expected 64"));
  CHECK_FALSE(bench.output<StaticBatch>("batch"));
}

TEST_CASE("a second run of image tokens written by hand fails one_picture rather than shifting the picture") {
  const auto bench = run_step("shapes_24x24_64", raw_prompt + "<|image|>", "two_384.png");
  (void)only_failure(bench, "one_picture");
}

TEST_CASE("image tokens with something between them fail visual_contiguous with their slots") {
  // A checkpoint whose image token is a word: no <|image|> is in the prompt, image ids are.
  const auto tokenizer = gemma4::Tokenizer::from_file(shapes_checkpoint()->tokenizer_file());
  const auto word = tokenizer.encode("is the", false).back();
  const CheckpointFolder folder;
  folder.edit_json("config.json", [&](nlohmann::json& config) { config["image_token_id"] = word; });
  const auto checkpoint = std::make_shared<const gemma4::Checkpoint>(gemma4::Checkpoint::open(folder.path()));
  const std::string prompt = "is the circle the one";
  const auto ids = tokenizer.encode(prompt, true);
  const auto first = std::find(ids.begin(), ids.end(), word) - ids.begin();
  const auto last = ids.rend() - std::find(ids.rbegin(), ids.rend(), word) - 1;
  REQUIRE(std::count(ids.begin(), ids.end(), word) == 2);
  REQUIRE(last > first + 1);

  StepBench bench("gemma4.build_static_inputs");
  bench.bind("checkpoint", checkpoint).bind("runtime", runtime_of("shapes_24x24_64")).set("prompt", prompt).run();
  CHECK_FALSE(bench.error());
  CHECK_FALSE(bench.output<StaticBatch>("batch"));
  CHECK(bench.with(Verdict::fail) == Names{"visual_count", "visual_contiguous"});
  CHECK_THAT(bench.result("visual_contiguous").message.value(),
             contains_text("the 2 image tokens lie in " + std::to_string(last - first + 1) + " slots from slot " +
                           std::to_string(first) + " on"));
}

TEST_CASE("a prompt that is too long with its picture fails prompt_fits") {
  auto bench = prepared(runtime_of("shapes_24x24_64", 66), raw_prompt, "two_384.png");
  bench.run();
  CHECK_THAT(only_failure(bench, "prompt_fits"), contains_text("69 tokens, expected 1 to 66"));
}

TEST_CASE("a damaged picture file ends the step in an error that names it") {
  const auto file = std::filesystem::temp_directory_path() / ("truncated-" + std::to_string(::getpid()) + ".png");
  std::ofstream(file, std::ios::binary) << "\x89PNG\r\n\x1a\n";
  auto bench = prepared(runtime_of("shapes_24x24_64"), raw_prompt, "");
  bench.set("image", file.string()).run();
  REQUIRE(bench.error());
  CHECK_THAT(*bench.error(), contains_text(file.filename().string()));
  std::filesystem::remove(file);
}

TEST_CASE("image tokens that stay in the slots fail input_ids") {
  CHECK(fails_with([](StaticBatch& b) {
          auto ids = values_of(b.input_ids);
          const auto raw = values_of(b.raw_input_ids);
          std::copy(raw.begin(), raw.end(), ids.begin());
          b.input_ids = row(ids);
        }) == Names{"input_ids"});
}

TEST_CASE("a mask that hides the picture fails attention_mask") {
  CHECK(fails_with([](StaticBatch& b) {
          const auto flags = flags_of(b.attention_mask);
          std::vector<std::uint8_t> bytes(flags.begin(), flags.end());
          std::fill(bytes.begin() + 1, bytes.begin() + 65, std::uint8_t{0});
          b.attention_mask = bools(bytes, b.attention_mask.sizes());
        }) == Names{"attention_mask", "mask_has_no_hole"});
}

TEST_CASE("transposed patches fail pixel_values") {
  CHECK(fails_with([](StaticBatch& b) {
          const auto good = floats_of(b.pixel_values.value());
          auto bad = good;
          for (std::size_t patch = 0; patch < 576; ++patch) {
            const auto other = patch % 24 * 24 + patch / 24;
            std::copy_n(good.begin() + static_cast<std::ptrdiff_t>(other * 768), 768,
                        bad.begin() + static_cast<std::ptrdiff_t>(patch * 768));
          }
          b.pixel_values = Tensor::copy_of(std::span<const float>(bad), {1, 630, 768});
        }) == Names{"pixel_values"});
}

TEST_CASE("swapped coordinates fail image_position_ids") {
  CHECK(fails_with([](StaticBatch& b) {
          auto places = values_of(b.image_position_ids.value());
          for (std::size_t i = 0; i < places.size(); i += 2) std::swap(places[i], places[i + 1]);
          b.image_position_ids = int64s(places, {1, 630, 2});
        }) == Names{"image_position_ids"});
}

TEST_CASE("a batch that lost its picture fails pixel_values and image_position_ids") {
  CHECK(fails_with([](StaticBatch& b) {
          b.pixel_values.reset();
          b.image_position_ids.reset();
        }) == Names{"pixel_values", "image_position_ids"});
}
