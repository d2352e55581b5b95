#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/softmax.h>

#include "catch.hpp"
#include "runtime/softmax.hpp"

TEST_CASE("the softmax has the bits of one over everything, however many entries are taken at once") {
  // Of E2B's text and vision, and of a decode step; odd ones, whose rows end within a vector register.
  const auto sizes = GENERATE(std::vector<std::int64_t>{8, 512, 2048}, std::vector<std::int64_t>{2, 1188, 2376},
                              std::vector<std::int64_t>{8, 1, 2048}, std::vector<std::int64_t>{7, 1031, 413});
  for (const auto dtype : {at::kBFloat16, at::kFloat}) {
    const auto scores = at::empty(sizes, at::kFloat).normal_(0, 20).to(dtype);
    scores.select(2, 5).fill_(-120);
    const auto whole = at::softmax(scores, -1, at::kFloat).to(dtype);
    CHECK(at::equal(gemma4::softmax_in_float(scores.clone()), whole));
    CHECK_FALSE(at::equal(gemma4::softmax_in_float(scores * 2), whole));
  }
}
