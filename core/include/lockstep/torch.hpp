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

// Matrix products with LibTorch's bits, faster where LibTorch is slow: in bfloat16 on a CPU without bfloat16
// instructions. Before a kernel of Lockstep's serves a class of shapes, a self-test on this machine compares it with
// LibTorch's on operands whose sums cancel; any difference, and every later product of that form is LibTorch's.
// docs/numerics.md tells the order of the additions and which shapes make a class.

/// at::linear without a bias: x [..., K] times the transpose of weight [N, K] -> [..., N].
[[nodiscard]] LOCKSTEP_API at::Tensor linear(const at::Tensor& x, const at::Tensor& weight);
/// at::matmul of a [..., M, K] and b [..., K, N] with equal sizes in front -> [..., M, N].
[[nodiscard]] LOCKSTEP_API at::Tensor matmul(const at::Tensor& a, const at::Tensor& b);

}  // namespace lockstep
