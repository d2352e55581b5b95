#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/check.hpp>

#include "check/differences.hpp"
#include "check/elements.hpp"

namespace lockstep::numeric {

/// Both sides of a comparison that can be made: same dtype, same sizes, at least one element.
struct Sides {
  Elements expected;
  Elements actual;
  std::vector<std::int64_t> sizes;
};

/// What a metric comes to.
struct Measure {
  std::optional<double> value;      ///< none: undefined, or a metric without a number
  std::string undefined;            ///< the reason, where it is undefined
  std::int64_t exempt = 0;          ///< pairs that were left out
  double scale = 1;                 ///< what differences are divided by (peir, norm_wise)
  std::int64_t span = 0;            ///< of the largest difference that is not exempt (peir, norm_wise)
  std::int64_t differing_row = -1;  ///< top1, topk: the first; kl, cosine: the worst
  std::int64_t rows_differ = 0;
  std::vector<std::pair<std::string, double>> statistics;
};

/// The metric's value from the differences, and from further passes where it needs more. Tolerances do not matter here:
/// `differences` holds the ratio of close.
[[nodiscard]] Measure measure(const Sides& sides, const Criterion& criterion, const Differences& differences);

}  // namespace lockstep::numeric
