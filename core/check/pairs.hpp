#pragma once

#include <cstdint>

#include <lockstep/value.hpp>

#include "check/differences.hpp"

namespace lockstep::numeric {

/// By what the worst pair is picked: the first that has the property, or the first with the largest measure.
enum class Pick { different_bits, non_finite, nan_or_unequal_infinite, abs, abs_not_exempt, rel, ratio, ulp };

/// The number of the first such element in [begin, end); `begin` if there is none. Costs one pass over the span.
[[nodiscard]] std::int64_t find_pair(const Elements& expected, const Elements& actual, std::int64_t begin,
                                     std::int64_t end, Pick pick, const Tolerance& tolerance);

/// How many pairs of finite values have a measure above `limit`. `pick` is a measure; abs is divided by `scale`.
[[nodiscard]] std::int64_t count_beyond(const Elements& expected, const Elements& actual, Pick pick, double scale,
                                        double limit);

/// One element as the record shows it: a bool, an integer (a real if it needs 64 unsigned bits) or a real.
[[nodiscard]] Value value_at(const Elements& elements, std::int64_t flat);

}  // namespace lockstep::numeric
