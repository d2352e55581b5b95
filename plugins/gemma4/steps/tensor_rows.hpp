#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <lockstep/tensor.hpp>

namespace gemma4 {

/// A view of `count` entries from `first` on along one axis. The caller knows that they exist.
[[nodiscard]] inline lockstep::Tensor narrow(const lockstep::Tensor& tensor, std::size_t axis, std::int64_t first,
                                             std::int64_t count) {
  auto sizes = tensor.sizes();
  sizes[axis] = count;
  const auto offset = first * tensor.strides()[axis] * static_cast<std::int64_t>(element_size(tensor.dtype()));
  return {tensor.owner(), tensor.data() + offset, tensor.dtype(), std::move(sizes), tensor.strides()};
}

/// The last position of logits [1, k, V], as [1, V].
[[nodiscard]] inline lockstep::Tensor last_row(const lockstep::Tensor& logits) {
  const auto last = narrow(logits, 1, logits.size(1) - 1, 1);
  return {last.owner(), last.data(), last.dtype(), {1, last.size(2)}, {last.strides()[1], last.strides()[2]}};
}

/// A token or a position as a step takes it: int64 [1, 1].
[[nodiscard]] inline lockstep::Tensor single(std::int64_t value) {
  return lockstep::Tensor::copy_of(std::span<const std::int64_t>(&value, 1), {1, 1});
}

}  // namespace gemma4
