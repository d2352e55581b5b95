#pragma once

#include <cstdint>
#include <limits>

#include "check/differences.hpp"

namespace lockstep::numeric {

/// Values as doubles, whatever the dtype; `n` <= block_size.
void decode(DType dtype, const std::byte* raw, std::int64_t n, double* out);

/// Mask fills: a magnitude from which on a value stands for "masked" and not for a quantity. The largest finite
/// bfloat16 for bfloat16, float32 and float64 (it covers finfo.min of bfloat16 and float32), the largest finite float16
/// for float16; infinity, that is none, for all others.
[[nodiscard]] double fill_threshold(DType dtype) noexcept;

/// A pair is exempt if both sides are a fill, or an infinity, of the same sign.
[[nodiscard]] inline bool is_exempt(double e, double a, double threshold) noexcept {
  return (e >= threshold && a >= threshold) || (e <= -threshold && a <= -threshold);
}

/// What norm_wise, peir, sqnr, cosine and pcc need of the values themselves. Non-finite pairs must be exempt or absent.
struct Moments {
  std::int64_t used = 0;
  std::int64_t exempt = 0;
  double min_expected = std::numeric_limits<double>::infinity();
  double max_expected = -std::numeric_limits<double>::infinity();
  double min_actual = std::numeric_limits<double>::infinity();
  double max_actual = -std::numeric_limits<double>::infinity();
  double sum_expected = 0;
  double sum_actual = 0;
  double dot = 0;
  double squares_expected = 0;
  double squares_actual = 0;
  Peak<double> max_abs;  ///< of the difference

  void merge(const Moments& later);
  [[nodiscard]] double largest_expected() const noexcept {
    return used == 0 ? 0 : std::max(std::fabs(min_expected), std::fabs(max_expected));
  }
};

/// With `exempt_fills` fills and equal infinities are left out; without, every pair is used.
[[nodiscard]] Moments find_moments(const Elements& expected, const Elements& actual, bool exempt_fills);

/// Sums over (e - mean_e)(a - mean_a) and the squares, the second of two passes.
struct CentredSums {
  double cross = 0;
  double squares_expected = 0;
  double squares_actual = 0;
};
[[nodiscard]] CentredSums find_centred_sums(const Elements& expected, const Elements& actual, double mean_expected,
                                            double mean_actual);

}  // namespace lockstep::numeric
