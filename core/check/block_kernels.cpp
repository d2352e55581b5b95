#include "check/block_kernels.hpp"

#include <cmath>
#include <limits>
#include <string_view>

#include "check/elements.hpp"

// One source, compiled for several instruction sets. Function attributes rather than -mavx2 on a file: an inline
// function of a header that such a file emits could be the one that the linker keeps for everyone.

namespace lockstep::numeric {
namespace {

namespace baseline {
constexpr int wide = 16;
#include "check/block_formats.inc"
}  // namespace baseline

#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
namespace avx2 {
constexpr int wide = 32;
#include "check/block_formats.inc"
}  // namespace avx2
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq"))), apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,prefer-vector-width=512")
#endif
namespace avx512 {
constexpr int wide = 64;
#include "check/block_formats.inc"
}  // namespace avx512
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

bool has_avx2() { return __builtin_cpu_supports("avx2") != 0; }
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512dq") != 0;
}
#endif

}  // namespace

const BlockKernels* block_kernels(DType dtype, const char* instruction_set) noexcept {
  const std::string_view wanted = instruction_set;
  if (wanted == "baseline") return baseline::kernels_of(dtype);
#if defined(__x86_64__)
  if (wanted == "avx2" && has_avx2()) return avx2::kernels_of(dtype);
  if (wanted == "avx512" && has_avx512()) return avx512::kernels_of(dtype);
#endif
  return nullptr;
}

const BlockKernels* block_kernels(DType dtype) noexcept {
  for (const char* set : {"avx512", "avx2"}) {
    if (const auto* kernels = block_kernels(dtype, set)) return kernels;
  }
  return block_kernels(dtype, "baseline");
}

}  // namespace lockstep::numeric
