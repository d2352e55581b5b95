#pragma once

#include <cstdint>

// Products with a transposed second matrix, as LibTorch computes them in bfloat16 on CPUs without bfloat16
// instructions: out[m][n] is one dot product of row m of x and row n of w in 64 float32 partial sums. Lane j adds the
// products of k = j, j + 64, j + 128, … in order (each is exact in float32); then the lanes are halved, i with i + 32,
// with 16, …, with 1; the result is rounded once. (aten/src/ATen/native/BlasKernel.cpp, bf16_dot_with_fp32_arith)
//
// The kernels below keep that order for many outputs at once, so their bits do not depend on the tiling. They use AVX2
// and FMA: ask has_avx2() first.

namespace lockstep::kernels {

inline constexpr std::int64_t dot_lanes = 64;  ///< k must be a multiple

[[nodiscard]] bool has_avx2() noexcept;

/// bfloat16 x[count] as float32, count a multiple of 16. Of every 16 values those at even places come first: the order
/// in which dot64_row reads x.
void widen_row(const std::uint16_t* x, std::int64_t count, float* wide) noexcept;

/// One widened row of x against rows [0, columns) of w, which are read once, one after the other. out
/// bfloat16[columns].
void dot64_row(const float* x, const std::uint16_t* w, std::int64_t w_stride, std::int64_t k, std::int64_t columns,
               std::uint16_t* out) noexcept;

/// A tile of outputs is the product of two panels: x_panel_rows rows of x and w_panel_rows rows of w.
inline constexpr std::int64_t x_panel_rows = 3;
inline constexpr std::int64_t w_panel_rows = 4;

/// bfloat16 rows[count][k] as a panel, float32[k * x_panel_rows], the rows that are missing zero. Lanes 8 r to 8 r + 7
/// of all k come before those of r + 1, so that a tile's sums of eight lanes stay in registers.
void pack_x_panel(const std::uint16_t* rows, std::int64_t count, std::int64_t stride, std::int64_t k,
                  float* panel) noexcept;
/// The same for w, float32[k * w_panel_rows].
void pack_w_panel(const std::uint16_t* rows, std::int64_t count, std::int64_t stride, std::int64_t k,
                  float* panel) noexcept;

/// out bfloat16[rows][columns] of two panels, of which so many rows are asked for.
void dot64_tile(const float* x_panel, const float* w_panel, std::int64_t k, std::int64_t rows, std::int64_t columns,
                std::uint16_t* out, std::int64_t out_stride) noexcept;

}  // namespace lockstep::kernels
