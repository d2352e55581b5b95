#pragma once

#include <cstdint>

// Products with a second matrix whose rows are contiguous, as LibTorch computes them in bfloat16 on CPUs without
// bfloat16 instructions: out[m][n] is a sum over k in four float32 partial sums. Sum j adds the products of k = j, j +
// 4, j + 8, … in order; the k that are left over when K is not a multiple of four go into sum 0; then
// ((0 + 1) + 2) + 3, rounded once. (aten/src/ATen/native/cpu/BlasKernel.cpp, gemm_notrans_ and sum)

namespace lockstep::kernels {

inline constexpr std::int64_t sum_tile_rows = 6;
inline constexpr std::int64_t sum_columns = 16;  ///< N must be a multiple

/// 1 to sum_tile_rows rows of bfloat16 a[rows][k] in the order in which sum4_rows reads them: float32[k * rows].
void widen_rows(const std::uint16_t* a, std::int64_t rows, std::int64_t a_stride, std::int64_t k, float* wide) noexcept;

/// out bfloat16[rows][n] of widened rows and b[k][n], n a multiple of 16. Uses AVX2 and FMA.
void sum4_rows(const float* wide, std::int64_t rows, std::int64_t k, const std::uint16_t* b, std::int64_t b_stride,
               std::int64_t n, std::uint16_t* out, std::int64_t out_stride) noexcept;

}  // namespace lockstep::kernels
