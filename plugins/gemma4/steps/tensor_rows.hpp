#pragma once

#include <cstdint>

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

}  // namespace gemma4
