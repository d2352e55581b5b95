#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/tensor.hpp>

#include "temporary_folder.hpp"

namespace lockstep::test {

inline Tensor floats(const std::vector<float>& values) {
  return Tensor::copy_of(std::span<const float>(values), {static_cast<std::int64_t>(values.size())});
}
inline std::vector<float> values_of(const Tensor& tensor) {
  const auto dense = tensor.contiguous();
  const auto values = dense.values<float>();
  return {values.begin(), values.end()};
}

inline std::shared_ptr<const NamedTensors> set_of(NamedTensors::Entries entries) {
  return std::make_shared<const NamedTensors>(std::move(entries));
}

using Scratch = TemporaryFolder;

}  // namespace lockstep::test
