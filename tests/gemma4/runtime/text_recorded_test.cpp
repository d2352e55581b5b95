// The text model of the static runtime against what transformers computed without padding.

#include <lockstep/safetensors.hpp>

#include <fmt/format.h>

#include "gemma4/runtime/prompts.hpp"
#include "runtime/processor_contract.hpp"

using namespace gemma4;
using namespace gemma4::test;
using lockstep::DType;

namespace {

// Across machines bfloat16 logits differ by up to 1.2e-2 of the largest: AVX2 against no vector unit.
constexpr double bf16_across_machines = 2e-2;

struct Case {
  const char* recording;  // below tests/data
  DType dtype;
  double bound;
};
const std::vector<Case> cases{
    {"recordings/two_describe_fp32/reference", DType::float32, fp32_sums},
    {"recordings/two_describe_bf16/reference", DType::bfloat16, bf16_across_machines},
    {"text/text_window_fp32", DType::float32, fp32_sums},
    {"text/irregular_fp32", DType::float32, fp32_sums},
};

struct Recorded {
  explicit Recorded(const Case& c)
      : file(lockstep::SafetensorsFile::open(fmt::format("{}/{}.safetensors", LOCKSTEP_TEST_DATA, c.recording))) {}
  lockstep::SafetensorsFile file;
  [[nodiscard]] at::Tensor at(const std::string& name) const { return lockstep::to_torch(file.at(name)); }
  [[nodiscard]] std::vector<std::int64_t> ids(const std::string& name) const { return values_of(file.at(name)); }
};

std::shared_ptr<const Runtime> runtime_of(const Case& c, std::int64_t max_seq) {
  const bool irregular = std::string_view(c.recording).find("irregular") != std::string_view::npos;
  return make_static_runtime(irregular ? irregular_vision_checkpoint() : shapes_vision_checkpoint(),
                             text_options(max_seq, c.dtype));
}
Prompt prompt_of(const Runtime& runtime, const Recorded& recorded) {
  return test::prompt_of(runtime, recorded.file.at("llm.ids").contiguous(), recorded.file.at("llm.fused"));
}

/// The recorded cache of a layer, [1, kv heads, n, D], holds the last n positions; a window forgets the others.
void check_cache(const KvCache& cache, const Recorded& recorded, const std::string& stem, double bound) {
  std::size_t compared = 0;
  for (const auto& layer : cache.layers) {
    const auto compare = [&](const lockstep::Tensor& slots, const char* kind) {
      const auto name = fmt::format("{}.L{}.{}", stem, layer.index, kind);
      if (!recorded.file.contains(name)) return;
      CAPTURE(name);
      const auto expected = recorded.at(name);
      const auto first = cache.length - expected.size(2);
      CHECK(norm_wise(expected, lockstep::to_torch(slots).slice(2, first, cache.length)) <= bound);
      ++compared;
    };
    compare(layer.key, "k");
    compare(layer.value, "v");
  }
  CHECK(compared >= 4);
}

}  // namespace

TEST_CASE("a padded prefill gives the logits and the cache of transformers' unpadded one, whatever max_seq is") {
  for (const auto& c : cases) {
    for (const std::int64_t max_seq : {104, 160}) {
      CAPTURE(c.recording, max_seq);
      const Recorded recorded(c);
      const auto runtime = runtime_of(c, max_seq);
      const auto session = runtime->start();
      const auto logits = prefill(*session, prompt_of(*runtime, recorded));
      CHECK(norm_wise(recorded.at("logits_capped")[0], logits) <= c.bound);
      CHECK(logits.argmax().item<std::int64_t>() == recorded.at("logits_capped").argmax().item<std::int64_t>());
      CHECK(session->length() == recorded.at("llm.ids").size(1));
      check_cache(session->snapshot(), recorded, "cache", c.bound);
    }
  }
}

TEST_CASE("every layer's output of the prompt's rows is transformers'") {
  for (const auto& c : {cases[0], cases[1]}) {
    CAPTURE(c.recording);
    const Recorded recorded(c);
    const auto runtime = runtime_of(c, 160);
    Shown shown;
    (void)prefill(*runtime->start(), prompt_of(*runtime, recorded), into(shown));
    for (std::size_t i = 0; i < 10; ++i) {
      const auto name = fmt::format("L{}.out", i);
      CAPTURE(name);
      const auto expected = recorded.at(name);
      CHECK(norm_wise(expected, shown.at(name).slice(1, 0, expected.size(1))) <= c.bound);
    }
    for (const auto* name : {"ple.token", "ple.combined"}) {
      CAPTURE(name);
      const auto expected = recorded.at(name);
      CHECK(norm_wise(expected, shown.at(name).slice(1, 0, expected.size(1))) <= c.bound);
    }
  }
}

TEST_CASE("decode of the same tokens gives transformers' logits step by step, across the window, and its cache") {
  for (const auto& c : cases) {
    CAPTURE(c.recording);
    const Recorded recorded(c);
    const auto runtime = runtime_of(c, 160);
    const auto session = runtime->start();
    (void)prefill(*session, prompt_of(*runtime, recorded));
    std::size_t step = 0;
    for (const auto token : recorded.ids("decode.tokens")) {
      CAPTURE(step);
      const auto expected = recorded.at(fmt::format("decode.{}.logits_capped", step++))[0];
      CHECK(norm_wise(expected, decode(*session, token)) <= c.bound);
    }
    CHECK(step >= 6);
    check_cache(session->snapshot(), recorded, "cache_final", c.bound);
  }
}

TEST_CASE("masks allow what transformers' allow and rotary tables are transformers' to 1e-6") {
  for (const auto& c : {cases[0], cases[2], cases[3]}) {
    CAPTURE(c.recording);
    const Recorded recorded(c);
    const auto runtime = runtime_of(c, 160);
    const auto prompt = prompt_of(*runtime, recorded);
    const auto count = recorded.at("llm.ids").size(1);
    for (const auto type : {LayerType::sliding_attention, LayerType::full_attention}) {
      const auto* const name = type == LayerType::full_attention ? "full" : "sliding";
      CAPTURE(name);
      const auto mask = lockstep::to_torch(prompt.masks[type]).slice(2, 0, count).slice(3, 0, count);
      CHECK(at::equal(mask.eq(0), recorded.at(fmt::format("mask.{}", name)).eq(0)));
      const auto difference = [&](const lockstep::Tensor& table, const char* part) {
        const auto expected = recorded.at(fmt::format("rope.{}.{}", name, part));
        return (lockstep::to_torch(table).slice(1, 0, count) - expected).abs().max().item<double>();
      };
      CHECK(difference(prompt.rope[type].cos, "cos") <= 1e-6);
      CHECK(difference(prompt.rope[type].sin, "sin") <= 1e-6);
    }
  }
}

TEST_CASE("greedy generation gives transformers' ids and stops where it stops") {
  for (const auto& c : {cases[0], cases[2]}) {
    CAPTURE(c.recording);
    const Recorded recorded(c);
    const auto runtime = runtime_of(c, 160);
    const auto session = runtime->start();
    const auto logits = prefill(*session, prompt_of(*runtime, recorded));
    const auto expected = recorded.ids("gen.ids");
    const auto generation = session->generate(logits, 20);
    CHECK(generation.tokens == expected);
    CHECK(generation.stop == "eos");
  }
}

TEST_CASE("from ids and pixels to logits, through every stage, the runtime is transformers") {
  const auto& c = cases[0];
  const Recorded recorded(c);
  auto options = text_options(128);
  options.profile = find_profile("shapes_24x24_64_chat");
  const auto runtime = make_static_runtime(shapes_vision_checkpoint(), options);
  const auto positions = build_image_position_ids(runtime->profile());
  const auto pixels = pixels_of(vision_recording("two_describe_fp32").at("img.0.resized_u8"), runtime->profile());
  Prompt prompt;
  prompt.batch = runtime->build_static_inputs(
      {.input_ids = recorded.file.at("tok.ids").contiguous(), .pixel_values = pixels, .image_position_ids = positions});
  prompt.embeds =
      runtime->fuse(runtime->token_embedding(prompt.batch.input_ids), runtime->vision_prefill(pixels, positions));
  CHECK(norm_wise(recorded.at("llm.fused"), lockstep::to_torch(prompt.embeds).slice(1, 0, 79)) <= fp32_sums);
  prompt.masks = runtime->attention_masks(prompt.batch.attention_mask);
  prompt.rope = runtime->rope(prompt.batch.position_ids);
  Shown shown;
  const auto logits = prefill(*runtime->start(), prompt, into(shown));
  CHECK(norm_wise(recorded.at("ple.token"), shown.at("ple.token").slice(1, 0, 79)) <= fp32_sums);
  CHECK(norm_wise(recorded.at("logits_capped")[0], logits) <= fp32_sums);
}
