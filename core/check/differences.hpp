#pragma once

#include <cstdint>
#include <functional>

#include "check/element_rules.hpp"
#include "check/elements.hpp"

namespace lockstep::numeric {

/// The largest of something, and the span (see `Spans`) in which it was first seen.
template <class T>
struct Peak {
  T value{};
  std::int64_t span = 0;
  void merge(const Peak& later) {
    if (later.value > value) *this = later;
  }
};

/// What one pass over both sides finds. Partial results of consecutive spans merge in order.
/// Sums and maxima are over pairs of finite values; equal infinities count as equal.
struct Differences {
  std::int64_t count = 0;
  std::int64_t bits_differ = 0;
  std::int64_t non_finite_bits_differ = 0;  ///< those of them that are non-finite
  std::int64_t values_differ = 0;           ///< a != e, NaN included
  std::int64_t not_close = 0;               ///< by the tolerance that was asked for
  std::int64_t non_finite = 0;              ///< pairs with a NaN or an infinity on either side
  std::int64_t non_finite_expected = 0;
  std::int64_t non_finite_actual = 0;
  std::int64_t nan = 0;               ///< pairs with a NaN
  std::int64_t unequal_infinite = 0;  ///< pairs without NaN, with an infinity, that differ
  double sum_abs = 0;
  double sum_squares = 0;
  Peak<double> max_abs;
  Peak<double> max_rel;    ///< |a-e| / |e|; inf where only e is 0
  Peak<double> max_ratio;  ///< see Closeness
  Peak<std::uint64_t> max_ulp;
  std::int64_t first_bits_span = -1;  ///< first span with different bits; -1: none
  std::int64_t first_bad_span = -1;   ///< first span with a NaN or an unequal infinity
  std::int64_t first_non_finite_span = -1;

  void merge(const Differences& later);
};

/// The partition of a comparison into spans of blocks. It depends on the element count only, so that sums do not depend
/// on the number of threads; at most 1024 spans, so that partial results stay small.
struct Spans {
  explicit Spans(std::int64_t elements);
  std::int64_t elements;
  std::int64_t length;  ///< elements of each span but the last; a multiple of block_size
  std::int64_t count;
  [[nodiscard]] std::int64_t begin(std::int64_t span) const { return span * length; }
  [[nodiscard]] std::int64_t end(std::int64_t span) const { return std::min(elements, (span + 1) * length); }
};

/// Both sides have the same dtype and count.
[[nodiscard]] Differences find_differences(const Elements& expected, const Elements& actual,
                                           const Tolerance& tolerance);

}  // namespace lockstep::numeric
