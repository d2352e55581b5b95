#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <lockstep/tensor.hpp>

namespace gemma4::test {

inline lockstep::Tensor int64s(const std::vector<std::int64_t>& values, std::vector<std::int64_t> sizes) {
  return lockstep::Tensor::copy_of(std::span<const std::int64_t>(values), std::move(sizes));
}
inline lockstep::Tensor row(const std::vector<std::int64_t>& values) {
  return int64s(values, {1, static_cast<std::int64_t>(values.size())});
}
inline lockstep::Tensor bools(const std::vector<std::uint8_t>& values, std::vector<std::int64_t> sizes) {
  return lockstep::Tensor::copy_of(std::as_bytes(std::span(values)), lockstep::DType::boolean, std::move(sizes));
}
inline lockstep::Tensor zeros(lockstep::DType dtype, std::vector<std::int64_t> sizes) {
  std::size_t bytes = lockstep::element_size(dtype);
  for (const auto size : sizes) bytes *= static_cast<std::size_t>(size);
  return lockstep::Tensor::copy_of(std::vector<std::byte>(bytes), dtype, std::move(sizes));
}

inline std::vector<std::int64_t> values_of(const lockstep::Tensor& tensor) {
  const auto dense = tensor.contiguous();
  const auto values = dense.values<std::int64_t>();
  return {values.begin(), values.end()};
}
inline std::vector<bool> flags_of(const lockstep::Tensor& tensor) {
  const auto dense = tensor.contiguous();
  const auto values = dense.values<bool>();
  return {values.begin(), values.end()};
}

}  // namespace gemma4::test
