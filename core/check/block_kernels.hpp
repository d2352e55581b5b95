#pragma once

#include <cstddef>
#include <cstdint>

#include <lockstep/tensor.hpp>

namespace lockstep::numeric {

/// Running values that a block can only raise.
struct BlockMaxima {
  double abs = 0;
  double rel = 0;
  double ratio = 0;
  std::uint64_t ulp = 0;
};

struct BlockCounts {
  std::int64_t bits_differ = 0;
  std::int64_t values_differ = 0;
  std::int64_t not_close = 0;
  double sum_abs = 0;
  double sum_squares = 0;
};

enum class BlockKind { equal, finite, other };

/// The vector code of one floating format and one instruction set. `n` is a multiple of 8 and at most block_size.
struct BlockKernels {
  /// equal: same bits, all finite. finite: all finite. other: a NaN or an infinity.
  BlockKind (*classify)(const std::byte* expected, const std::byte* actual, std::int64_t n);
  /// A block of finite values. Sums have eight lanes, folded in order, for every instruction set: the same bits.
  BlockCounts (*differences)(const std::byte* expected, const std::byte* actual, std::int64_t n, double rtol,
                             double atol, BlockMaxima& maxima);
};

/// The best kernels that this processor runs; null for a dtype that has none (integers, bool, float8).
[[nodiscard]] const BlockKernels* block_kernels(DType dtype) noexcept;

/// "baseline", "avx2", "avx512". Tests compare all sets that the processor has.
[[nodiscard]] LOCKSTEP_API const BlockKernels* block_kernels(DType dtype, const char* instruction_set) noexcept;

}  // namespace lockstep::numeric
