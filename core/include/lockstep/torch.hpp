#pragma once

// Needs the target lockstep::torch. Nothing in <lockstep/step.hpp> includes LibTorch.

#include <ATen/core/Tensor.h>

#include <lockstep/tensor.hpp>

namespace lockstep {

/// at::Tensor -> Tensor without a copy; lets ports and checks take an at::Tensor directly.
/// Throws Error for dtypes that Tensor does not have, for sparse or quantized layouts and other devices than the CPU.
template <>
struct LOCKSTEP_API TensorAdapter<at::Tensor> {
  static Tensor to_tensor(const at::Tensor& tensor);
};

/// Tensor -> at::Tensor without a copy; the result keeps the data alive and must not be written to.
/// Data that is not aligned to its element size is copied.
[[nodiscard]] LOCKSTEP_API at::Tensor to_torch(const Tensor& tensor);

[[nodiscard]] LOCKSTEP_API at::ScalarType to_torch(DType dtype);
/// Throws Error for a dtype that Tensor does not have.
[[nodiscard]] LOCKSTEP_API DType from_torch(at::ScalarType dtype);

}  // namespace lockstep
