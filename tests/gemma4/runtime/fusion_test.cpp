#include "runtime/fusion.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>

#include "catch.hpp"
#include "gemma4/runtime/errors.hpp"

using namespace gemma4;
using namespace gemma4::test;

namespace {

constexpr std::int64_t slots = 6, width = 4;

at::Tensor text() { return at::arange(slots * width).to(at::kFloat).view({1, slots, width}); }
at::Tensor visual(std::int64_t rows) { return -1 - at::arange(rows * width).to(at::kFloat).view({rows, width}); }
std::string error_of_fusion(const at::Tensor& t, const at::Tensor& v, std::int64_t start, std::int64_t count) {
  return error_of([&] { (void)fixed_slot_fuse(t, v, start, count); });
}

}  // namespace

TEST_CASE("fixed slots give what a masked scatter gives, at the start, inside, at the end and over the whole range") {
  for (std::int64_t start = 0; start < slots; ++start) {
    for (std::int64_t count = 1; count <= slots - start; ++count) {
      CAPTURE(start, count);
      auto mask = at::zeros({1, slots, 1}, at::kBool);
      mask.slice(1, start, start + count).fill_(true);
      const auto expected = text().masked_scatter(mask.expand({1, slots, width}), visual(count));
      CHECK(at::equal(fixed_slot_fuse(text(), visual(count), start, count), expected));
      CHECK(at::equal(fixed_slot_fuse(text(), visual(count).unsqueeze(0), start, count), expected));
    }
  }
}

TEST_CASE("a batch is fused row by row") {
  const auto two = at::arange(2 * slots * width).view({2, slots, width});
  const auto pictures = -1 - at::arange(2 * 2 * width).view({2, 2, width});
  const auto fused = fixed_slot_fuse(two, pictures, 3, 2);
  CHECK(at::equal(fused.slice(1, 3, 5), pictures));
  CHECK(at::equal(fused.slice(1, 0, 3), two.slice(1, 0, 3)));
  CHECK(at::equal(fused.slice(1, 5), two.slice(1, 5)));
}

TEST_CASE("no row leaves the text, all rows leave the picture") {
  CHECK(at::equal(fixed_slot_fuse(text(), visual(0), 2, 0), text()));
  const auto picture = visual(slots);
  CHECK(fixed_slot_fuse(text(), picture, 0, slots).data_ptr() == picture.data_ptr());
}

TEST_CASE("fusion changes neither of its arguments") {
  const auto t = text();
  const auto v = visual(2);
  (void)fixed_slot_fuse(t, v, 1, 2);
  CHECK(at::equal(t, text()));
  CHECK(at::equal(v, visual(2)));
}

TEST_CASE("each way in which text and picture do not fit is an error of its own") {
  CHECK_THAT(error_of_fusion(text()[0], visual(2), 1, 2), contains_text("text_embeds is float32 [6, 4]"));
  CHECK_THAT(error_of_fusion(text(), visual(2)[0], 1, 2), contains_text("visual_embeds is float32 [4]"));
  CHECK_THAT(error_of_fusion(text(), visual(2).view({2, 1, width}), 1, 2), contains_text("a batch of 1"));
  CHECK_THAT(error_of_fusion(text(), visual(2).view({4, 2}), 1, 4), contains_text("rows of 4 values"));
  CHECK_THAT(error_of_fusion(text(), visual(2).to(at::kBFloat16), 1, 2),
             contains_text("visual_embeds is bfloat16 [2, 4], expected float32"));
  CHECK_THAT(error_of_fusion(text(), visual(2), 1, 3),
             contains_text("expected 3 rows, got 2") && contains_text("image_height"));
  CHECK_THAT(error_of_fusion(text(), visual(2), -1, 2), contains_text("outside the prompt's 6 slots"));
  CHECK_THAT(error_of_fusion(text(), visual(2), 5, 2), contains_text("slots 5 to 6 lie outside"));
}
