#include "runtime/softmax.hpp"

#include <algorithm>

#include <ATen/ops/softmax.h>

namespace gemma4 {

at::Tensor softmax_in_float(at::Tensor scores) {
  constexpr std::int64_t most_elements = std::int64_t{1} << 20;  // 4 MiB of float32
  const auto count = scores.size(0);
  const auto at_once = std::max<std::int64_t>(1, most_elements * count / std::max<std::int64_t>(1, scores.numel()));
  for (std::int64_t first = 0; first < count; first += at_once) {
    auto part = scores.slice(0, first, std::min(first + at_once, count));
    part.copy_(at::softmax(part, -1, at::kFloat));
  }
  return scores;
}

}  // namespace gemma4
