#include <algorithm>
#include <functional>
#include <string>

#include <lockstep/safetensors.hpp>

#include <lockstep/testing.hpp>

#include "catch.hpp"
#include "gemma4/runtime/tensors.hpp"
#include "gemma4/steps/runtimes.hpp"

using namespace gemma4::test;
using gemma4::Checkpoint;
using gemma4::Runtime;
using gemma4::StaticBatch;
using lockstep::DType;
using lockstep::StepBench;
using lockstep::Tensor;
using lockstep::Verdict;

namespace {

StepBench prepared(std::shared_ptr<const Runtime> runtime, const std::string& prompt) {
  StepBench bench("gemma4.build_static_inputs");
  bench.bind("checkpoint", shapes_checkpoint()).bind("runtime", std::move(runtime)).set("prompt", prompt);
  return bench;
}
StepBench run_step(const std::string& prompt, std::int64_t max_seq = 160) {
  auto bench = prepared(native_runtime(DType::bfloat16, max_seq), prompt);
  bench.run();
  return bench;
}
/// Checks that fail when the runtime's batch of a short prompt is damaged.
std::vector<std::string> fails_with(std::function<void(StaticBatch&)> damage) {
  const auto faulty = std::make_shared<FaultyRuntime>(native_runtime(DType::bfloat16));
  faulty->damage_batch = std::move(damage);
  auto bench = prepared(faulty, "Describe the image.");
  bench.run();
  CHECK_FALSE(bench.error());
  CHECK(bench.output<StaticBatch>("batch"));
  return bench.with(Verdict::fail);
}
Tensor with_id(const Tensor& ids, std::size_t slot, std::int64_t id) {
  auto values = values_of(ids);
  values[slot] = id;
  return row(values);
}
Tensor with_flag(const Tensor& mask, std::size_t slot, bool flag) {
  const auto flags = flags_of(mask);
  std::vector<std::uint8_t> bytes(flags.begin(), flags.end());
  bytes[slot] = flag;
  return bools(bytes, mask.sizes());
}

using Names = std::vector<std::string>;
const Names all_checks{"one_picture",          "no_sound_or_video", "prompt_fits",      "ids_in_vocabulary",
                       "picture_fits_profile", "visual_start",      "visual_count",     "visual_contiguous",
                       "raw_input_ids",        "input_ids",         "attention_mask",   "valid_length",
                       "position_ids",         "padding_is_pad",    "mask_has_no_hole", "pixel_values",
                       "image_position_ids"};

// transformers' ids of the same prompt: tests/data/reference.
std::vector<std::int64_t> recorded_ids(const std::string& recording) {
  return values_of(
      lockstep::SafetensorsFile::open(LOCKSTEP_TEST_DATA "/reference/" + recording + ".safetensors").at("tok.ids"));
}
const std::string window_prompt =
    "The quick brown fox jumps over the lazy dog. How many shapes are there? Little by little the rain stopped and the";

}  // namespace

TEST_CASE("a text prompt passes all checks of build_static_inputs") {
  const auto bench = run_step("Describe the image.");
  CHECK_FALSE(bench.error());
  CHECK(bench.with(Verdict::pass) == all_checks);
  const auto batch = bench.output<StaticBatch>("batch");
  REQUIRE(batch);
  CHECK(batch->input_ids.sizes() == std::vector<std::int64_t>{1, 160});
  CHECK_FALSE(batch->pixel_values);
  CHECK_FALSE(batch->image_position_ids);
  CHECK(bench.summary() == std::to_string(batch->valid_length) + " tokens in 160 slots");
}

TEST_CASE("a chat prompt has the ids that transformers' processor gives") {
  auto bench = prepared(native_runtime(DType::bfloat16), window_prompt);
  bench.set("prompt_format", "chat").run();
  CHECK_FALSE(bench.error());
  CHECK(bench.with(Verdict::pass) == all_checks);
  CHECK(values_of(bench.output<StaticBatch>("batch")->raw_input_ids) == recorded_ids("text_window_bf16"));
  REQUIRE(bench.recorded().size() == 1);
  CHECK(bench.recorded()[0].first == "chat_template_sha256");
}

TEST_CASE("both ways to the ids of a chat agree on awkward texts") {
  for (const auto* prompt : {"", " ", "\n\n a \n", "<turn|>", "a<bos>b", "<", "<|turn", "\xC2\xA0 x \xE3\x80\x80",
                             "caf\xC3\xA9 \xF0\x9F\x98\x80", "<|channel>thought\n<channel|>x", "a<pad>b"}) {
    for (const bool with_system : {false, true}) {
      CAPTURE(prompt, with_system);
      auto bench = prepared(native_runtime(DType::bfloat16), prompt);
      bench.set("prompt_format", "chat");
      if (with_system) bench.set("system", "\tBe brief. ");
      bench.run();
      CHECK_FALSE(bench.error());
      CHECK(bench.with(Verdict::pass) == all_checks);
    }
  }
}

TEST_CASE("a prompt of max_seq tokens passes, one token more fails prompt_fits with both numbers") {
  const auto length =
      static_cast<std::int64_t>(run_step("Describe the image.").output<StaticBatch>("batch")->valid_length);
  auto runtime = [](std::int64_t max_seq) {
    return gemma4::make_static_runtime(shapes_checkpoint(), {.profile = {.name = "tiny",
                                                                         .visual_start_idx = 0,
                                                                         .num_visual_tokens = 1,
                                                                         .max_soft_tokens = 70,
                                                                         .patch_grid_height = 3,
                                                                         .patch_grid_width = 3},
                                                             .max_seq = max_seq});
  };
  auto exact = prepared(runtime(length), "Describe the image.");
  exact.run();
  CHECK(exact.with(Verdict::pass) == all_checks);
  auto longer = prepared(runtime(length - 1), "Describe the image.");
  longer.run();
  CHECK_FALSE(longer.error());
  CHECK(longer.with(Verdict::fail) == Names{"prompt_fits"});
  CHECK_THAT(longer.result("prompt_fits").message.value(),
             contains_text(std::to_string(length) + " tokens") &&
                 contains_text("expected 1 to " + std::to_string(length - 1)));
  CHECK_FALSE(longer.output<StaticBatch>("batch"));
}

TEST_CASE("an empty prompt fails prompt_fits and publishes nothing") {
  const auto bench = run_step("");
  CHECK_FALSE(bench.error());
  CHECK(bench.with(Verdict::fail) == Names{"prompt_fits"});
  CHECK_THAT(bench.result("prompt_fits").message.value(), contains_text("0 tokens"));
  CHECK_FALSE(bench.output<StaticBatch>("batch"));
}

TEST_CASE("a placeholder of a sound or a video fails no_sound_or_video and publishes nothing") {
  const auto bench = run_step("<|audio|><|video|>");
  CHECK_FALSE(bench.error());
  CHECK(bench.with(Verdict::fail) == Names{"no_sound_or_video"});
  CHECK_THAT(bench.result("no_sound_or_video").message.value(),
             contains_text("1 x '<|audio|>', 1 x '<|video|>', expected none"));
  CHECK_FALSE(bench.output<StaticBatch>("batch"));
}

TEST_CASE("a pad token that is written into the prompt is part of it") {
  const auto bench = run_step("a<pad>b");
  CHECK(bench.with(Verdict::pass) == all_checks);
  CHECK(values_of(bench.output<StaticBatch>("batch")->raw_input_ids)[1] == 0);
}

TEST_CASE("a wrong id in the batch fails input_ids") {
  CHECK(fails_with([](StaticBatch& b) { b.input_ids = with_id(b.input_ids, 2, 77); }) == Names{"input_ids"});
}

TEST_CASE("an id in the padding fails padding_is_pad as well") {
  CHECK(fails_with([](StaticBatch& b) { b.input_ids = with_id(b.input_ids, 159, 77); }) ==
        Names{"input_ids", "padding_is_pad"});
}

TEST_CASE("a wrong raw id fails raw_input_ids") {
  CHECK(fails_with([](StaticBatch& b) { b.raw_input_ids = with_id(b.raw_input_ids, 0, 77); }) ==
        Names{"raw_input_ids"});
}

TEST_CASE("a hole in the mask fails mask_has_no_hole") {
  CHECK(fails_with([](StaticBatch& b) { b.attention_mask = with_flag(b.attention_mask, 1, false); }) ==
        Names{"attention_mask", "mask_has_no_hole"});
}

TEST_CASE("a mask that is one slot too long fails attention_mask") {
  CHECK(fails_with([](StaticBatch& b) {
          b.attention_mask = with_flag(b.attention_mask, static_cast<std::size_t>(b.valid_length), true);
        }) == Names{"attention_mask"});
}

TEST_CASE("a wrong length fails valid_length") {
  CHECK(fails_with([](StaticBatch& b) { ++b.valid_length; }) == Names{"valid_length"});
}

TEST_CASE("positions that start at 1 fail position_ids") {
  CHECK(fails_with([](StaticBatch& b) {
          auto positions = values_of(b.position_ids);
          for (auto& position : positions) ++position;
          b.position_ids = row(positions);
        }) == Names{"position_ids"});
}

TEST_CASE("left padding fails ids, mask and padding") {
  CHECK(fails_with([](StaticBatch& b) {
          auto ids = values_of(b.input_ids);
          auto flags = flags_of(b.attention_mask);
          std::rotate(ids.begin(), ids.begin() + b.valid_length, ids.end());
          std::rotate(flags.begin(), flags.begin() + b.valid_length, flags.end());
          b.input_ids = row(ids);
          b.attention_mask = bools({flags.begin(), flags.end()}, {1, 160});
        }) == Names{"input_ids", "attention_mask", "padding_is_pad", "mask_has_no_hole"});
}

TEST_CASE("tensors of another shape or dtype fail instead of ending the step in an error") {
  CHECK(fails_with([](StaticBatch& b) {
          b.input_ids = zeros(DType::float32, {1, 3});
          b.attention_mask = zeros(DType::boolean, {160});
        }) == Names{"input_ids", "attention_mask", "padding_is_pad", "mask_has_no_hole"});
}

TEST_CASE("a system text for a raw prompt is refused before anything runs") {
  auto bench = prepared(native_runtime(DType::bfloat16), "x");
  bench.set("system", "Be brief.");
  REQUIRE(bench.problems().size() == 1);
  CHECK_THAT(bench.problems()[0],
             contains_text("with.system: P020: step 'bench': system is given, but prompt_format is \"raw\""));
  bench.set("prompt_format", "chat");
  CHECK(bench.problems().empty());
}
