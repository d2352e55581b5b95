#include "runtime/layout.hpp"

#include <limits>

#include "catch.hpp"
#include "gemma4/runtime/errors.hpp"

using gemma4::StaticLayout;
using gemma4::test::error_of;

namespace {
std::string error_of_layout(StaticLayout layout) {
  return error_of([&] { layout.validate(); });
}
}  // namespace

TEST_CASE("a layout takes a picture at the front, at the end, and none at all") {
  CHECK(error_of_layout({.max_seq = 160, .visual_start_idx = 1, .num_visual_tokens = 64}).empty());
  CHECK(error_of_layout({.max_seq = 65, .visual_start_idx = 1, .num_visual_tokens = 64}).empty());
  CHECK(error_of_layout({.max_seq = 64, .visual_start_idx = 0, .num_visual_tokens = 64}).empty());
  CHECK(error_of_layout({.max_seq = 1, .visual_start_idx = 1, .num_visual_tokens = 0}).empty());
}

TEST_CASE("a layout has one row") {
  CHECK_THAT(error_of_layout({.max_seq = 160, .batch_size = 2}),
             contains_text("batch_size is 2") && contains_text("exactly 1"));
}

TEST_CASE("a layout has a positive number of slots") {
  CHECK_THAT(error_of_layout({.max_seq = 0}), contains_text("max_seq is 0"));
  CHECK_THAT(error_of_layout({.max_seq = -5}), contains_text("max_seq is -5"));
}

TEST_CASE("a layout's picture does not start before slot 0") {
  CHECK_THAT(error_of_layout({.max_seq = 160, .visual_start_idx = -1}), contains_text("visual_start_idx is -1"));
}

TEST_CASE("a layout's picture has no negative number of tokens") {
  CHECK_THAT(error_of_layout({.max_seq = 160, .num_visual_tokens = -1}), contains_text("num_visual_tokens is -1"));
}

TEST_CASE("a layout's picture ends within max_seq") {
  CHECK_THAT(
      error_of_layout({.max_seq = 64, .visual_start_idx = 1, .num_visual_tokens = 64}),
      contains_text("64 visual tokens from slot 1") && contains_text("max_seq 64") && contains_text("raise max_seq"));
  const auto huge = std::numeric_limits<std::int64_t>::max();
  CHECK_THAT(error_of_layout({.max_seq = 160, .visual_start_idx = 1, .num_visual_tokens = huge}),
             contains_text("do not fit"));
  CHECK_THAT(error_of_layout({.max_seq = 160, .visual_start_idx = huge, .num_visual_tokens = 1}),
             contains_text("do not fit"));
}

TEST_CASE("the rules of a layout are checked in the documented order") {
  StaticLayout wrong{.max_seq = -1, .visual_start_idx = -1, .num_visual_tokens = -1, .batch_size = 3};
  CHECK_THAT(error_of_layout(wrong), contains_text("batch_size"));
  wrong.batch_size = 1;
  CHECK_THAT(error_of_layout(wrong), contains_text("max_seq"));
  wrong.max_seq = 160;
  CHECK_THAT(error_of_layout(wrong), contains_text("visual_start_idx"));
}
