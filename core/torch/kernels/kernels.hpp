#pragma once

#include <cstdint>
#include <string>

#include <lockstep/export.hpp>

namespace lockstep {

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
