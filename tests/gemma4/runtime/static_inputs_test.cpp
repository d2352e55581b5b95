#include "runtime/static_inputs.hpp"

#include <numeric>

#include "catch.hpp"
#include "gemma4/runtime/errors.hpp"
#include "gemma4/runtime/tensors.hpp"
#include "runtime/known_profiles.hpp"
#include "runtime/processor_contract.hpp"

using namespace gemma4;
using namespace gemma4::test;
using lockstep::DType;

namespace {

constexpr PlaceholderIds ids{.pad = 0, .image = 955};
const StaticLayout layout{.max_seq = 80, .visual_start_idx = 1, .num_visual_tokens = 64};
const VisionProfile& shapes() { return find_profile("shapes_24x24_64"); }

StaticBatch build(const RawInputs& raw) { return build_static_batch(raw, layout, shapes(), ids); }
std::string error_of_build(const RawInputs& raw) {
  return error_of([&] { (void)build(raw); });
}
std::string error_of_layout(const std::vector<std::uint8_t>& mask, std::vector<std::int64_t> sizes,
                            std::string_view side = "right") {
  return error_of([&] { validate_padding_layout(bools(mask, std::move(sizes)), side); });
}

}  // namespace

// The eleven behaviours of TICO's test_static_gemma4_runtime_helpers.py, in its order.

TEST_CASE("a given mask keeps its values and becomes bool") {
  const auto mask = normalize_valid_mask(row({5, 6, 7, 0}), row({1, 1, 1, 0}), 0);
  CHECK(mask.dtype() == DType::boolean);
  CHECK(mask.sizes() == std::vector<std::int64_t>{1, 4});
  CHECK(flags_of(mask) == std::vector<bool>{true, true, true, false});
  // Its values, not the ids, decide; any non-zero integer is true.
  CHECK(flags_of(normalize_valid_mask(row({5, 0, 7, 9}), row({1, 256, -1, 0}), 0)) ==
        std::vector<bool>{true, true, true, false});
}

TEST_CASE("without a mask the ids other than pad are valid") {
  CHECK(flags_of(normalize_valid_mask(row({5, 6, 7, 0, 0}), std::nullopt, 0)) ==
        std::vector<bool>{true, true, true, false, false});
}

TEST_CASE("without a mask and a pad id everything is valid") {
  CHECK(flags_of(normalize_valid_mask(row({5, 0, 0}), std::nullopt, std::nullopt)) ==
        std::vector<bool>{true, true, true});
}

TEST_CASE("a mask of another shape is rejected") {
  CHECK_THAT(error_of([] {
               (void)normalize_valid_mask(row({5, 6, 7}), row({1, 1}), 0);
             }),
             contains_text("attention_mask shape [1, 2] differs from input_ids shape [1, 3]"));
}

TEST_CASE("a batch of rows is masked row by row") {
  const auto mask = normalize_valid_mask(int64s({5, 6, 0, 7, 0, 0}, {2, 3}), std::nullopt, 0);
  CHECK(mask.sizes() == std::vector<std::int64_t>{2, 3});
  CHECK(flags_of(mask) == std::vector<bool>{true, true, false, true, false, false});
}

TEST_CASE("a row padded on the right is accepted") { CHECK(error_of_layout({1, 1, 1, 0, 0}, {1, 5}).empty()); }

TEST_CASE("a row without padding is accepted") { CHECK(error_of_layout({1, 1, 1}, {1, 3}).empty()); }

TEST_CASE("a hole in the padding is rejected with its slots") {
  CHECK_THAT(error_of_layout({1, 0, 1, 0}, {1, 4}), contains_text("right padding expected but not found") &&
                                                        contains_text("padding in slot 1 and a token in slot 2"));
}

TEST_CASE("left padding is rejected as unsupported") {
  CHECK_THAT(error_of_layout({1, 1, 0}, {1, 3}, "left"), contains_text("unsupported padding side 'left'"));
}

TEST_CASE("a batch with different valid lengths is accepted") {
  CHECK(error_of_layout({1, 1, 1, 1, 0, 0, 1, 1, 0}, {3, 3}).empty());
}

TEST_CASE("a batch with one bad row is rejected and names the row") {
  CHECK_THAT(error_of_layout({1, 1, 1, 0, 1, 1, 1, 1, 0}, {3, 3}), contains_text("row 1"));
}

// Beyond them.

TEST_CASE("an additive mask is rejected") {
  CHECK_THAT(error_of([] {
               (void)normalize_valid_mask(row({5, 6}), zeros(DType::float32, {1, 2}), 0);
             }),
             contains_text("float32 [1, 2]") && contains_text("not an additive one"));
}

TEST_CASE("a prompt fills the first slots, the pad id the others") {
  const auto batch = build({.input_ids = row({5, 6, 7})});
  std::vector<std::int64_t> expected(80, 0);
  expected[0] = 5;
  expected[1] = 6;
  expected[2] = 7;
  CHECK(batch.input_ids.sizes() == std::vector<std::int64_t>{1, 80});
  CHECK(values_of(batch.input_ids) == expected);
  std::vector<bool> valid(80, false);
  valid[0] = valid[1] = valid[2] = true;
  CHECK(batch.attention_mask.dtype() == DType::boolean);
  CHECK(batch.attention_mask.sizes() == std::vector<std::int64_t>{1, 80});
  CHECK(flags_of(batch.attention_mask) == valid);
  std::vector<std::int64_t> positions(80);
  std::iota(positions.begin(), positions.end(), 0);
  CHECK(batch.position_ids.sizes() == std::vector<std::int64_t>{1, 80});
  CHECK(values_of(batch.position_ids) == positions);
  CHECK(batch.valid_length == 3);
  CHECK(values_of(batch.raw_input_ids) == std::vector<std::int64_t>{5, 6, 7});
  CHECK_FALSE(batch.pixel_values);
}

TEST_CASE("a prompt of one token and a prompt of max_seq tokens fit, one more does not") {
  CHECK(build({.input_ids = row({5})}).valid_length == 1);
  const std::vector<std::int64_t> full(80, 7);
  CHECK(build({.input_ids = row(full)}).valid_length == 80);
  CHECK(values_of(build({.input_ids = row(full)}).input_ids) == full);
  const std::vector<std::int64_t> longer(81, 7);
  CHECK_THAT(error_of_build({.input_ids = row(longer)}), contains_text("81 tokens") && contains_text("max_seq 80") &&
                                                             contains_text("raise max_seq to at least 81"));
}

TEST_CASE("padding that the prompt brings along is cut off before it is measured") {
  std::vector<std::int64_t> padded(200, 0);
  padded[0] = 5;
  padded[1] = 6;
  const auto batch = build({.input_ids = row(padded)});
  CHECK(batch.valid_length == 2);
  CHECK(values_of(batch.raw_input_ids) == std::vector<std::int64_t>{5, 6});
}

TEST_CASE("a pad id that the mask declares valid is part of the prompt") {
  const auto batch = build({.input_ids = row({5, 0, 7}), .attention_mask = row({1, 1, 1})});
  CHECK(batch.valid_length == 3);
  CHECK_THAT(error_of_build({.input_ids = row({5, 0, 7})}), contains_text("right padding expected but not found"));
}

TEST_CASE("what the mask declares invalid never reaches the slots") {
  const auto batch = build({.input_ids = row({5, 6, 9, 9}), .attention_mask = row({1, 1, 0, 0})});
  CHECK(batch.valid_length == 2);
  const auto values = values_of(batch.input_ids);
  CHECK(std::vector<std::int64_t>(values.begin(), values.begin() + 4) == std::vector<std::int64_t>{5, 6, 0, 0});
}

TEST_CASE("a prompt without a token is rejected") {
  CHECK_THAT(error_of_build({.input_ids = row({})}), contains_text("no token"));
  CHECK_THAT(error_of_build({.input_ids = row({5, 6}), .attention_mask = row({0, 0})}), contains_text("no token"));
}

TEST_CASE("ids of another dtype, rank or batch are rejected") {
  CHECK_THAT(error_of_build({.input_ids = zeros(DType::int32, {1, 4})}), contains_text("int32 [1, 4]"));
  CHECK_THAT(error_of_build({.input_ids = zeros(DType::int64, {4})}), contains_text("int64 [4]"));
  CHECK_THAT(error_of_build({.input_ids = int64s({5, 6, 7, 8}, {2, 2})}), contains_text("2 rows"));
}

TEST_CASE("image slots hold the pad id and stay valid") {
  std::vector<std::int64_t> prompt(66, 955);
  prompt.front() = 5;
  prompt.back() = 6;
  const auto pixels = zeros(DType::float32, {1, 630, 768});
  const auto positions = build_image_position_ids(shapes());
  const auto batch = build({.input_ids = row(prompt), .pixel_values = pixels, .image_position_ids = positions});
  CHECK(batch.valid_length == 66);
  const auto values = values_of(batch.input_ids);
  const auto valid = flags_of(batch.attention_mask);
  for (std::size_t slot = 1; slot <= 64; ++slot) {
    REQUIRE(values[slot] == 0);
    REQUIRE(valid[slot]);
  }
  CHECK(values[0] == 5);
  CHECK(values[65] == 6);
  CHECK(values_of(batch.raw_input_ids) == prompt);
  CHECK(batch.pixel_values->data() == pixels.data());
  CHECK(batch.image_position_ids->data() == positions.data());
}

TEST_CASE("a picture that does not fit the profile is rejected before its ids are replaced") {
  std::vector<std::int64_t> prompt(66, 955);
  prompt[0] = prompt[1] = 5;
  CHECK_THAT(error_of_build({.input_ids = row(prompt),
                             .pixel_values = zeros(DType::float32, {1, 630, 768}),
                             .image_position_ids = build_image_position_ids(shapes())}),
             contains_text("has 64: 2-65"));
}

TEST_CASE("image ids without pixels and pixels without image ids are rejected") {
  std::vector<std::int64_t> prompt(66, 955);
  prompt.front() = 5;
  prompt.back() = 6;
  CHECK_THAT(error_of_build({.input_ids = row(prompt)}), contains_text("missing"));
  CHECK_THAT(error_of_build({.input_ids = row({5, 6}), .pixel_values = zeros(DType::float32, {1, 630, 768})}),
             contains_text("has 0: none"));
}

TEST_CASE("a picture for a checkpoint without an image token is rejected") {
  CHECK_THAT(error_of([] {
               (void)build_static_batch(
                   {.input_ids = row({5, 6}), .pixel_values = zeros(DType::float32, {1, 630, 768})}, layout, shapes(),
                   {.pad = 0});
             }),
             contains_text("no image_token_id"));
}

TEST_CASE("an impossible layout is rejected before the prompt is looked at") {
  CHECK_THAT(error_of([] { (void)build_static_batch({}, {.max_seq = 0}, shapes(), ids); }),
             contains_text("max_seq is 0"));
}
