// The text model served from a recording: masks, rope, passes, caches, generation. Expected values are the file's own.

#include <array>
#include <optional>

#include "gemma4/recording/recordings.hpp"
#include "processor/image_processor.hpp"

using namespace gemma4::test;
using gemma4::ModelInputs;
using lockstep::DType;

namespace {

constexpr std::int64_t slots = 79, steps = 12, window = 64;

ModelInputs recorded_inputs() {
  const std::array pictures{gemma4::decode_image(LOCKSTEP_SOURCE_DIR "/pipelines/data/images/two_384.png")};
  const auto picture = gemma4::process_images(pictures, *shapes()->image_processor());
  return {.input_ids = recorded("tok.ids"),
          .attention_mask = recorded("tok.attention_mask"),
          .pixel_values = picture.pixel_values,
          .image_position_ids = picture.image_position_ids};
}
Tensor ones(std::int64_t count) { return row(std::vector<std::int64_t>(static_cast<std::size_t>(count), 1)); }

gemma4::ReferencePrompt recorded_prompt() { return served()->prompt(recorded_inputs()); }

/// A session behind the prompt and `count` recorded steps.
std::unique_ptr<gemma4::ReferenceSession> session_after(std::int64_t count) {
  auto session = served()->start();
  (void)session->prefill(recorded_inputs(), 1);
  const auto tokens = ids_of(recorded("decode.tokens"));
  for (std::int64_t step = 0; step < count; ++step)
    (void)session->decode(row({tokens[static_cast<std::size_t>(step)]}));
  return session;
}
/// [1, heads, n, D]: positions first to last of n.
Tensor positions(const Tensor& cache, std::int64_t first, std::int64_t last) {
  auto sizes = cache.sizes();
  sizes[2] = last - first;
  return {cache.owner(),
          cache.data() + first * cache.strides()[2] * static_cast<std::int64_t>(element_size(cache.dtype())),
          cache.dtype(), sizes, cache.strides()};
}

}  // namespace

TEST_CASE("the recorded prompt has the recorded masks, decode steps theirs") {
  const auto reference = served();
  CHECK(reference->known_positions() == slots);
  const auto masks = reference->attention_masks(ones(slots));
  CHECK(same_bits(masks.full, recorded("mask.full")));
  CHECK(same_bits(masks.sliding, recorded("mask.sliding")));
  const auto step = reference->attention_masks(ones(slots + 3), slots + 2);
  CHECK(same_bits(step.full, recorded("decode.2.mask.full")));
  CHECK(same_bits(step.sliding, recorded("decode.2.mask.sliding")));
  CHECK_THAT(error_of([&] { (void)reference->attention_masks(ones(160)); }),
             contains_text("attention_mask is int64 [1, 160]") && contains_text("the recorded prompt int64 [1, 79]"));
  auto hole = std::vector<std::int64_t>(slots, 1);
  hole[0] = 0;
  CHECK_THAT(error_of([&] { (void)reference->attention_masks(row(hole)); }),
             contains_text("attention_mask[0, 0] is 0, the recording was made with 1"));
}

TEST_CASE("recorded positions have the recorded rotary rows, others are refused by number") {
  const auto reference = served();
  std::vector<std::int64_t> places(slots);
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::int64_t>(i);
  const auto tables = reference->rope(row(places));
  CHECK(same_bits(tables.full.cos, recorded("rope.full.cos")));
  CHECK(same_bits(tables.sliding.sin, recorded("rope.sliding.sin")));
  CHECK(same_bits(reference->rope(row({slots + 3})).full.sin, recorded("decode.3.rope.full.sin")));
  CHECK_THAT(error_of([&] {
               (void)reference->rope(row({0, 500}));
             }),
             contains_text("has nothing for position 500, which position_ids[0, 1] is"));
}

TEST_CASE("passes answer with the recorded logits, in bool masks too") {
  const auto reference = served();
  auto inputs = recorded_inputs();
  CHECK(same_bits(reference->start()->prefill(inputs, 1), recorded("prefill_last.logits_capped")));
  CHECK(same_bits(reference->start()->prefill(inputs, 0), recorded("logits_capped")));
  const std::vector<std::uint8_t> flags(slots, 1);
  inputs.attention_mask = Tensor::copy_of(std::as_bytes(std::span(flags)), DType::boolean, {1, slots});
  const auto session = reference->start();
  (void)session->prefill(inputs, 1);
  const auto tokens = ids_of(recorded("decode.tokens"));
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto logits = session->decode(row({tokens[static_cast<std::size_t>(step)]}));
    if (step != 1) REQUIRE(same_bits(logits, recorded("decode." + std::to_string(step) + ".logits_capped")));
  }
  CHECK_THAT(error_of([&] { (void)session->decode(row({5})); }),
             contains_text("has 12 decode steps, asked for one more"));
}

TEST_CASE("passes show the recorded tensors, of the layers that ran on the last position their last row") {
  std::map<std::string, Tensor> taps;
  const lockstep::TensorVisitor keep = [&](std::string_view name, const Tensor& tensor) {
    CHECK(taps.emplace(name, tensor).second);
  };
  const auto session = served()->start();
  (void)session->prefill(recorded_inputs(), 1, keep);
  CHECK(same_bits(taps.at("L0.out"), recorded("L0.out")));
  CHECK(same_bits(taps.at("L4.out"), recorded("L4.out")));
  CHECK(same_bits(taps.at("L5.out"), slice(recorded("L5.out"), slots - 1, slots)));  // the first with shared K and V
  CHECK(same_bits(taps.at("ple.combined"), recorded("ple.combined")));
  taps.clear();
  (void)session->decode(row({ids_of(recorded("decode.tokens"))[0]}), keep);
  CHECK(same_bits(taps.at("L9.out"), recorded("decode.0.L9.out")));
  CHECK(same_bits(taps.at("mask.full"), recorded("decode.0.mask.full")));
}

TEST_CASE("the cache is the recorded one after the prompt, after the last step, and in between made of both") {
  const auto first = session_after(0)->snapshot();
  CHECK(first.length == slots);
  REQUIRE(first.layers.size() == 5);
  for (const auto& layer : first.layers) {
    CHECK(same_bits(layer.key, recorded("cache.L" + std::to_string(layer.index) + ".k")));
    CHECK(same_bits(layer.value, recorded("cache.L" + std::to_string(layer.index) + ".v")));
  }
  const auto last = session_after(steps)->snapshot();
  CHECK(last.length == slots + steps);
  for (const auto& layer : last.layers) {
    CHECK(same_bits(layer.key, recorded("cache_final.L" + std::to_string(layer.index) + ".k")));
    CHECK(same_bits(layer.value, recorded("cache_final.L" + std::to_string(layer.index) + ".v")));
  }
  const auto middle = session_after(3)->snapshot();
  // Layer 4 is full: the first 82 positions of 91. Layer 0 slides: positions 19 to 81, of which the prompt's cache
  // holds 16 to 78 and the final one 28 to 90.
  CHECK(same_bits(middle.layers[4].key, positions(recorded("cache_final.L4.k"), 0, slots + 3)));
  const auto& sliding = middle.layers[0].key;
  REQUIRE(sliding.size(2) == window - 1);
  CHECK(same_bits(positions(sliding, 0, 60), positions(recorded("cache.L0.k"), 3, 63)));
  CHECK(same_bits(positions(sliding, 60, 63), positions(recorded("cache_final.L0.k"), 51, 54)));
}

TEST_CASE("the prompt is the recorded one with its last logits, and a session goes on behind it") {
  const auto reference = served();
  std::map<std::string, Tensor> taps;
  const auto prompt = reference->prompt(
      recorded_inputs(), [&](std::string_view name, const Tensor& tensor) { taps.emplace(name, tensor); });
  CHECK(same_bits(taps.at("L5.out"), recorded("L5.out")));  // the first with shared K and V, at every position
  CHECK(same_bits(prompt.logits, recorded("prefill_last.logits_capped")));
  CHECK(prompt.cache.length == slots);
  const auto session = reference->resume(prompt);
  CHECK(same_bits(session->decode(row({ids_of(recorded("decode.tokens"))[0]})), recorded("decode.0.logits_capped")));
  CHECK(session->snapshot().length == slots + 1);

  auto other = prompt;
  other.logits = recorded("decode.0.logits_capped");
  CHECK_THAT(error_of([&] { (void)reference->resume(other); }), contains_text("logits[0, 0, "));
  other = prompt;
  other.inputs.input_ids = flipped(other.inputs.input_ids, 8);
  CHECK_THAT(error_of([&] { (void)reference->resume(other); }), contains_text("input_ids[0, 1] is"));
}

TEST_CASE("another token than the recorded one is refused with the step and both") {
  const auto session = session_after(1);
  const auto token = ids_of(recorded("decode.tokens"))[1];
  CHECK_THAT(error_of([&] { (void)session->decode(row({token + 1})); }),
             contains_text("step 1 of row 0 is fed token " + std::to_string(token + 1) +
                           ", the recording was made with " + std::to_string(token)));
}

TEST_CASE("a session goes from prompt to tokens, once") {
  const auto session = served()->start();
  CHECK_THAT(error_of([&] { (void)session->decode(row({5})); }), contains_text("before prefill"));
  (void)session->prefill(recorded_inputs(), 1);
  CHECK_THAT(error_of([&] { (void)session->prefill(recorded_inputs(), 1); }), contains_text("twice"));
}

TEST_CASE("other inputs are refused: ids, mask, a missing picture") {
  const auto refused = [](const std::function<void(ModelInputs&)>& change) {
    auto inputs = recorded_inputs();
    change(inputs);
    return error_of([&] { (void)served()->start()->prefill(inputs, 1); });
  };
  CHECK_THAT(refused([](ModelInputs& i) { i.input_ids = flipped(i.input_ids, 8); }),
             contains_text("input_ids[0, 1] is"));
  CHECK_THAT(refused([](ModelInputs& i) { i.attention_mask = flipped(i.attention_mask, 0); }),
             contains_text("attention_mask[0, 0] is 0"));
  CHECK_THAT(refused([](ModelInputs& i) { i.pixel_values = i.image_position_ids = std::nullopt; }),
             contains_text("made with 1 pictures, this prompt has none"));
}

TEST_CASE("generation answers with the recorded tokens as far as it is asked") {
  const auto reference = served();
  const auto expected = ids_of(recorded("gen.ids"));
  const auto logits = recorded("gen.logits");
  std::int64_t seen = 0;
  const auto all = reference->generate(recorded_prompt(), 100, [&](std::int64_t step, const Tensor& row_of_logits) {
    CHECK(step == seen++);
    CHECK(same_bits(row_of_logits, [&] {
      const auto part = slice(logits, step, step + 1).contiguous();
      return Tensor(part.owner(), part.data(), part.dtype(), {1, part.size(2)});
    }()));
  });
  CHECK(all.tokens == expected);
  CHECK(all.stop == "eos");
  CHECK(seen == std::ssize(expected));
  const auto some = reference->generate(recorded_prompt(), 4);
  CHECK(some.tokens == std::vector<std::int64_t>(expected.begin(), expected.begin() + 4));
  CHECK(some.stop == "length");

  const Copy cut;
  cut.edit_tensors([](Tensors& tensors) {
    tensors.at("gen.ids") = slice(tensors.at("gen.ids"), 0, 5).contiguous();
    tensors.at("gen.logits") = slice(tensors.at("gen.logits"), 0, 5).contiguous();
  });
  CHECK(served(cut.folder())->generate(recorded_prompt(), 5).stop == "length");
  CHECK_THAT(error_of([&] { (void)served(cut.folder())->generate(recorded_prompt(), 6); }),
             contains_text("generated 5 tokens and no end, asked for 6"));
}
