#include "runtime/processor_contract.hpp"

#include <functional>

#include "catch.hpp"
#include "gemma4/runtime/errors.hpp"
#include "gemma4/runtime/tensors.hpp"
#include "runtime/known_profiles.hpp"

using gemma4::ProcessorOutputs;
using gemma4::VisionProfile;
using gemma4::test::error_of;
using gemma4::test::int64s;
using gemma4::test::row;
using gemma4::test::values_of;
using gemma4::test::zeros;
using lockstep::DType;

namespace {

constexpr std::int64_t image = 955;  // image_token_id of the shapes checkpoint

const VisionProfile& shapes() { return gemma4::find_profile("shapes_24x24_64"); }

/// [5, image x 64, 6]: what "<|image>…<image|>" looks like, the picture in slots 1 to 64.
std::vector<std::int64_t> prompt(std::int64_t start = 1, std::int64_t count = 64) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(start), 5);
  ids.insert(ids.end(), static_cast<std::size_t>(count), image);
  ids.push_back(6);
  return ids;
}

std::string error_of_ids(const lockstep::Tensor& ids) {
  return error_of([&] { gemma4::validate_text_input_ids(shapes(), ids, image); });
}

ProcessorOutputs outputs() {
  return {.input_ids = row(prompt()),
          .pixel_values = zeros(DType::float32, {1, 630, 768}),
          .image_position_ids = gemma4::build_image_position_ids(shapes()),
          .num_soft_tokens_per_image = int64s({64}, {1})};
}

std::string error_of_outputs(const std::function<void(ProcessorOutputs&)>& change) {
  auto changed = outputs();
  change(changed);
  return error_of([&] { gemma4::validate_processor_outputs(shapes(), changed, image); });
}

}  // namespace

TEST_CASE("position ids run row by row as (x, y), then -1") {
  const auto ids = gemma4::build_image_position_ids(gemma4::find_profile("e2b_66x36_264"));
  CHECK(ids.sizes() == std::vector<std::int64_t>{1, 2520, 2});
  const auto values = values_of(ids);
  const auto at = [&](std::size_t patch) { return std::pair(values[2 * patch], values[2 * patch + 1]); };
  CHECK(at(0) == std::pair<std::int64_t, std::int64_t>(0, 0));
  CHECK(at(65) == std::pair<std::int64_t, std::int64_t>(65, 0));
  CHECK(at(66) == std::pair<std::int64_t, std::int64_t>(0, 1));
  CHECK(at(2375) == std::pair<std::int64_t, std::int64_t>(65, 35));
  for (std::size_t patch = 2376; patch < 2520; ++patch) {
    REQUIRE(at(patch) == std::pair<std::int64_t, std::int64_t>(-1, -1));
  }
}

TEST_CASE("the default profile's position ids have the published digest") {
  // Source: TICO 0.3.0, test_static_vision_profile.py.
  CHECK(gemma4::image_position_ids_sha256(gemma4::build_image_position_ids(gemma4::find_profile("e2b_66x36_264"))) ==
        "245f8e683f7c4f08a07cd32b8cd24e0f496656b070eeb5095f5e2a7161894432");
}

TEST_CASE("one changed position id is rejected with both digests") {
  auto values = values_of(gemma4::build_image_position_ids(shapes()));
  values[10] = 3;
  const auto changed = int64s(values, {1, 630, 2});
  CHECK_THAT(error_of([&] { gemma4::validate_image_position_ids(shapes(), changed); }),
             contains_text("576 valid patches, expected 576") &&
                 contains_text(gemma4::image_position_ids_sha256(changed)) &&
                 contains_text("6303c3dc1a66ebb413637029c053a7f0f2a86c9d41f10d5dd319d96e652ece3c"));
}

TEST_CASE("position ids of another picture are rejected with both patch counts") {
  const auto other = gemma4::build_image_position_ids(gemma4::find_profile("shapes_39x15_65_chat"));
  CHECK_THAT(error_of([&] { gemma4::validate_image_position_ids(shapes(), other); }),
             contains_text("585 valid patches, expected 576"));
}

TEST_CASE("position ids of another shape or dtype are rejected") {
  const auto check = [](const lockstep::Tensor& ids) {
    return error_of([&] { gemma4::validate_image_position_ids(shapes(), ids); });
  };
  CHECK(check(gemma4::build_image_position_ids(shapes())).empty());
  CHECK_THAT(check(zeros(DType::int64, {630, 2})),
             contains_text("int64 [630, 2]") && contains_text("int64 [1, 630, 2]"));
  CHECK_THAT(check(zeros(DType::int32, {1, 630, 2})), contains_text("int32 [1, 630, 2]"));
}

TEST_CASE("image ids in exactly the profile's slots are accepted, as a row or as a batch of one") {
  CHECK(error_of_ids(row(prompt())).empty());
  CHECK(error_of_ids(int64s(prompt(), {66})).empty());
}

TEST_CASE("a shifted picture is rejected with its slots") {
  CHECK_THAT(error_of_ids(row(prompt(2))), contains_text("slots 1-64") && contains_text("has 64: 2-65"));
}

TEST_CASE("a picture with a token too few or too many is rejected") {
  CHECK_THAT(error_of_ids(row(prompt(1, 63))), contains_text("has 63: 1-63"));
  CHECK_THAT(error_of_ids(row(prompt(1, 65))), contains_text("has 65: 1-65"));
}

TEST_CASE("a picture with a gap is rejected") {
  auto ids = prompt(1, 65);
  ids[30] = 7;
  CHECK_THAT(error_of_ids(row(ids)), contains_text("has 64: 1-29, 31-65"));
}

TEST_CASE("an image id outside the picture is rejected") {
  auto ids = prompt();
  ids.push_back(image);
  CHECK_THAT(error_of_ids(row(ids)), contains_text("has 65: 1-64, 66"));
}

TEST_CASE("a prompt without the picture is rejected") {
  CHECK_THAT(error_of_ids(row({5, 6, 7})), contains_text("has 0: none"));
}

TEST_CASE("ids of two rows or of another dtype are rejected") {
  CHECK_THAT(error_of_ids(zeros(DType::int64, {2, 66})),
             contains_text("int64 [2, 66]") && contains_text("single prompt"));
  CHECK_THAT(error_of_ids(zeros(DType::int64, {1, 1, 66})), contains_text("int64 [1, 1, 66]"));
  CHECK_THAT(error_of_ids(zeros(DType::int32, {66})), contains_text("int32 [66]"));
}

TEST_CASE("a processor's outputs that match the profile are accepted") {
  CHECK(error_of_outputs([](auto&) {}).empty());
  CHECK(error_of_outputs([](auto& o) { o.num_soft_tokens_per_image.reset(); }).empty());
}

TEST_CASE("outputs are rejected for a wrong span before anything else") {
  CHECK_THAT(error_of_outputs([](auto& o) {
               o.input_ids = row(prompt(3));
               o.pixel_values.reset();
             }),
             contains_text("has 64: 3-66"));
}

TEST_CASE("outputs without pixels or position ids are rejected") {
  CHECK_THAT(error_of_outputs([](auto& o) { o.pixel_values.reset(); }), contains_text("pixel_values are missing"));
  CHECK_THAT(error_of_outputs([](auto& o) { o.image_position_ids.reset(); }),
             contains_text("image_position_ids are missing"));
}

TEST_CASE("pixels of another shape are rejected with both shapes") {
  CHECK_THAT(error_of_outputs([](auto& o) {
               o.pixel_values = zeros(DType::float32, {630, 768});
             }),
             contains_text("float32 [630, 768]") && contains_text("[1, 630, 768]"));
  CHECK_THAT(error_of_outputs([](auto& o) {
               o.pixel_values = zeros(DType::float32, {1, 2520, 768});
             }),
             contains_text("[1, 2520, 768]"));
}

TEST_CASE("another number of soft tokens is rejected") {
  CHECK_THAT(error_of_outputs([](auto& o) { o.num_soft_tokens_per_image = int64s({63}, {1}); }),
             contains_text("is [63]") && contains_text("expects [64]"));
  CHECK_THAT(error_of_outputs([](auto& o) {
               o.num_soft_tokens_per_image = int64s({64, 64}, {2});
             }),
             contains_text("is [64, 64]"));
  CHECK_THAT(error_of_outputs([](auto& o) { o.num_soft_tokens_per_image = zeros(DType::float32, {1}); }),
             contains_text("float32 [1]"));
}
