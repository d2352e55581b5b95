#pragma once

#include <cstdint>

// The blocked and threaded products on top of the micro-kernels. out is contiguous bfloat16[batch][m][n]; every output
// is computed in the order that dot64.hpp and sum4.hpp describe.

namespace lockstep::kernels {

/// bfloat16 matrices of a batch; values of a row are contiguous.
struct Rows {
  const std::uint16_t* data;
  std::int64_t batch_stride;
  std::int64_t row_stride;
};
struct Sizes {
  std::int64_t batch, m, n, k;
};

/// From so many rows of x on, weights are packed into panels; below, they are read where they are, once for each row.
inline constexpr std::int64_t panel_rows_from = 12;

/// x[m][k] times the transpose of w[n][k]; k a multiple of 64.
void dot64(const Rows& x, const Rows& w, const Sizes& sizes, std::uint16_t* out);
/// a[m][k] times b[k][n]; n a multiple of 16.
void sum4(const Rows& a, const Rows& b, const Sizes& sizes, std::uint16_t* out);

}  // namespace lockstep::kernels
