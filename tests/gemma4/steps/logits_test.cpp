#include <vector>

#include "catch.hpp"
#include "gemma4/runtime/tensors.hpp"
#include "steps/logits_checks.hpp"

namespace {

gemma4::TopTwo top_two_of(const std::vector<float>& row) {
  return gemma4::top_two(
      lockstep::Tensor::copy_of(std::span<const float>(row), {1, static_cast<std::int64_t>(row.size())}));
}

}  // namespace

TEST_CASE("of equal logits the first is the arg max, however many there are") {
  std::vector<float> row(960, 1);
  for (const std::size_t tie : {200, 400, 600, 900}) row[tie] = 7;
  const auto top = top_two_of(row);
  CHECK(top.first == 200);
  CHECK(top.second == 400);
  CHECK(top.gap == 0);
  CHECK(top_two_of({7, 7, 7, 0}).first == 0);  // where topk(2) answers 1 and 2
  const auto flat = top_two_of(std::vector<float>(960, 3));
  CHECK(flat.first == 0);
  CHECK(flat.second == 1);
}

TEST_CASE("the second largest may lie before or behind the largest, the gap is in spacings of the dtype") {
  CHECK(top_two_of({1, 9, 4, 2}).second == 2);
  CHECK(top_two_of({4, 1, 9, 2}).second == 0);
  CHECK(top_two_of({9, 4}).second == 1);
  const auto top = top_two_of({4, 1, 9});
  CHECK(top.gap == 5);
  CHECK(top.spacings == 5.0 / 9.5367431640625e-07);  // 2^-20, the spacing of float32 between 8 and 16
}
