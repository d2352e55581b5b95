#pragma once

// Needs the target lockstep::torch.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include <lockstep/export.hpp>

// Matrix products with LibTorch's bits, faster where LibTorch is slow: in bfloat16 on a CPU without bfloat16
// instructions. Before a kernel of Lockstep's serves a class of shapes, a self-test on this machine compares it with
// LibTorch's on operands whose sums cancel; any difference, and every later product of that form is LibTorch's.
// docs/numerics.md tells the order of the additions and which shapes make a class.

namespace lockstep {

/// at::linear without a bias: x [..., K] times the transpose of weight [N, K] -> [..., N].
[[nodiscard]] LOCKSTEP_API at::Tensor linear(const at::Tensor& x, const at::Tensor& weight);
/// at::matmul of a [..., M, K] and b [..., K, N] with equal sizes in front -> [..., M, N].
[[nodiscard]] LOCKSTEP_API at::Tensor matmul(const at::Tensor& a, const at::Tensor& b);

/// `[environment] kernels`: `automatic` as above, `torch` LibTorch's alone. For the whole process.
enum class Kernels : std::uint8_t { automatic, torch };
LOCKSTEP_API void set_kernels(Kernels kernels);

/// What computed the bfloat16 products so far, and why: the record's environment.kernels and kernels_reason. Empty if
/// there was none that a fast kernel could serve.
struct KernelsReport {
  std::string used;    ///< "fast", "torch", or "fast and torch"
  std::string reason;  ///< "self-test: linear, bmm have PyTorch's bits"
};
[[nodiscard]] LOCKSTEP_API KernelsReport kernels_report();

}  // namespace lockstep
