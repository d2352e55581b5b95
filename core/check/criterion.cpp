#include <lockstep/check.hpp>

#include <cmath>

#include <fmt/format.h>

namespace lockstep {
namespace {

std::optional<std::string> not_negative(std::string_view key, const std::optional<double>& value) {
  if (!value || *value >= 0) return std::nullopt;
  return fmt::format("{} is {}, expected a number of at least 0", key, *value);
}

}  // namespace

std::optional<std::string> problem_of_bound(Metric metric, std::string_view key, double value) {
  if (std::isnan(value)) return "is NaN, expected a number";
  if (value < 0) return fmt::format("is {}, expected a number that is not negative", value);
  if (std::isinf(value)) return "is infinite, which every value satisfies";
  const bool share =
      metric == Metric::cosine || metric == Metric::pcc || metric == Metric::top1 || metric == Metric::topk;
  if (key == "min" && share && value > 1) return fmt::format("is {}, expected at most 1", value);
  if (key == "k" && metric == Metric::topk && (value < 1 || value != std::floor(value))) {
    return fmt::format("is {}, expected an integer of at least 1", value);
  }
  return std::nullopt;
}

std::optional<std::string> problem_of(const Criterion& criterion) {
  const Metric metric = criterion.metric;
  const Bound& bound = criterion.bound;
  for (const auto& [key, value] : {std::pair{"rtol", bound.rtol}, {"atol", bound.atol}, {"max", bound.max}}) {
    if (auto problem = not_negative(key, value)) return problem;
  }
  if (bound.min && std::isnan(*bound.min)) return "min is nan, expected a number";
  const auto missing = [&](const char* key) { return fmt::format("{} needs {}", name_of(metric), key); };
  switch (metric) {
    case Metric::close:
      if (bound.rtol.has_value() != bound.atol.has_value()) return "close takes rtol and atol together, or neither";
      return std::nullopt;
    case Metric::ulp:
    case Metric::peir:
    case Metric::max_abs:
    case Metric::max_rel:
    case Metric::mean_abs:
    case Metric::rmse:
    case Metric::kl:
      return bound.max ? std::nullopt : std::optional(missing("max"));
    case Metric::sqnr:
    case Metric::cosine:
    case Metric::pcc:
    case Metric::top1:
      return bound.min ? std::nullopt : std::optional(missing("min"));
    case Metric::topk:
      if (!bound.min) return missing("min");
      if (!bound.k) return missing("k");
      if (!(*bound.k >= 1) || *bound.k != std::floor(*bound.k)) {
        return fmt::format("k is {}, expected a whole number of at least 1", *bound.k);
      }
      return std::nullopt;
    case Metric::norm_wise:
      return not_negative("k", bound.k);
    case Metric::bits:
    case Metric::equal:
    case Metric::expect:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace lockstep
