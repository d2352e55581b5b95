#include "check/compare.hpp"

#include <cstring>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

namespace lockstep {

CheckResult compare(const Tensor& expected, const Tensor& actual, const Criterion& criterion,
                    const CompareOptions& /*options*/) {
  if (const auto problem = problem_of(criterion)) throw Error{*problem};
  if (criterion.metric != Metric::bits) {
    throw Error{fmt::format("metric {} is not available yet", name_of(criterion.metric))};
  }
  CheckResult result;
  result.metric = criterion.metric;
  result.bound = criterion.bound;
  result.verdict = Verdict::fail;
  if (expected.sizes() != actual.sizes() || expected.dtype() != actual.dtype()) {
    result.ladder = "not_comparable";
    result.message = fmt::format("expected {}, found {}", expected.to_string(), actual.to_string());
    return result;
  }
  result.compared = expected.numel();
  if (result.compared == 0 || expected.data() == actual.data()) {
    result.verdict = Verdict::vacuous;
    result.compared = 0;
    result.message = "nothing was compared";
    return result;
  }
  const Tensor e = expected.contiguous();
  const Tensor a = actual.contiguous();
  const std::size_t width = element_size(e.dtype());
  for (std::int64_t i = 0; i < result.compared; ++i) {
    const auto offset = static_cast<std::size_t>(i) * width;
    if (std::memcmp(e.data() + offset, a.data() + offset, width) != 0) ++result.mismatched;
  }
  result.ladder = result.mismatched == 0 ? "bits_equal" : "far";
  result.verdict = result.mismatched == 0 ? Verdict::pass : Verdict::fail;
  if (result.mismatched > 0) result.message = fmt::format("{} of {} differ", result.mismatched, result.compared);
  return result;
}

}  // namespace lockstep
