// What the Gemma 4 stages hand on crosses to another process and is the same there.

#include <cstdint>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "checkpoint/text_tensors.hpp"
#include "reference/reference_prompt.hpp"
#include "runtime/static_batch.hpp"
#include "steps/decode_errors.hpp"

using namespace lockstep;

namespace {

Tensor filled(std::int64_t value) { return Tensor::copy_of(std::span<const std::int64_t>(&value, 1), {1}); }
std::int64_t value_of(const Tensor& tensor) { return tensor.values<std::int64_t>().front(); }

template <class T>
T there_and_back(const T& value) {
  return PortTransfer<T>::from_tensors(PortTransfer<T>::to_tensors(value));
}

}  // namespace

TEST_CASE("a batch crosses, with a picture and without") {
  gemma4::StaticBatch batch{.input_ids = filled(1),
                            .attention_mask = filled(2),
                            .position_ids = filled(3),
                            .valid_length = 77,
                            .raw_input_ids = filled(4)};
  const auto plain = there_and_back(batch);
  CHECK(value_of(plain.input_ids) == 1);
  CHECK(value_of(plain.attention_mask) == 2);
  CHECK(value_of(plain.position_ids) == 3);
  CHECK(plain.valid_length == 77);
  CHECK(value_of(plain.raw_input_ids) == 4);
  CHECK_FALSE(plain.pixel_values.has_value());
  CHECK_FALSE(plain.image_position_ids.has_value());
  batch.pixel_values = filled(5);
  batch.image_position_ids = filled(6);
  const auto seen = there_and_back(batch);
  CHECK(value_of(seen.pixel_values.value()) == 5);
  CHECK(value_of(seen.image_position_ids.value()) == 6);
}

TEST_CASE("a cache crosses with its length and the indices of its layers") {
  const gemma4::KvCache cache{.length = 9, .layers = {{4, filled(40), filled(41)}, {14, filled(140), filled(141)}}};
  const auto back = there_and_back(cache);
  CHECK(back.length == 9);
  REQUIRE(back.layers.size() == 2);
  CHECK(back.layers[0].index == 4);
  CHECK(value_of(back.layers[0].key) == 40);
  CHECK(back.layers[1].index == 14);
  CHECK(value_of(back.layers[1].value) == 141);
}

TEST_CASE("a reference's prompt crosses with its maker, its inputs and its cache") {
  gemma4::ReferencePrompt prompt{.made_by = "native, bfloat16 of here",
                                 .inputs = {.input_ids = filled(1),
                                            .attention_mask = filled(2),
                                            .pixel_values = std::nullopt,
                                            .image_position_ids = std::nullopt},
                                 .cache = {.length = 9, .layers = {{4, filled(40), filled(41)}}},
                                 .logits = filled(3)};
  const auto plain = there_and_back(prompt);
  CHECK(plain.made_by == prompt.made_by);
  CHECK(value_of(plain.inputs.input_ids) == 1);
  CHECK(value_of(plain.inputs.attention_mask) == 2);
  CHECK_FALSE(plain.inputs.pixel_values.has_value());
  CHECK_FALSE(plain.inputs.image_position_ids.has_value());
  CHECK(plain.cache.length == 9);
  CHECK(value_of(plain.cache.layers.at(0).value) == 41);
  CHECK(value_of(plain.logits) == 3);
  prompt.inputs.pixel_values = filled(5);
  prompt.inputs.image_position_ids = filled(6);
  const auto seen = there_and_back(prompt);
  CHECK(value_of(seen.inputs.pixel_values.value()) == 5);
  CHECK(value_of(seen.inputs.image_position_ids.value()) == 6);
}

TEST_CASE("masks, rope tables and what decode found cross") {
  const auto masks = there_and_back(gemma4::AttentionMasks{{filled(1), filled(2)}});
  CHECK(value_of(masks.sliding) == 1);
  CHECK(value_of(masks.full) == 2);
  const auto rope = there_and_back(gemma4::RopeTables{{{filled(1), filled(2)}, {filled(3), filled(4)}}});
  CHECK(value_of(rope.sliding.sin) == 2);
  CHECK(value_of(rope.full.cos) == 3);
  const auto errors = there_and_back(gemma4::DecodeErrors{.passed = true, .steps = 8, .bound = 0.25});
  CHECK(errors.passed);
  CHECK(errors.steps == 8);
  CHECK(errors.bound == 0.25);
}
