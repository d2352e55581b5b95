#include "check/read_criterion.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lockstep/diagnostic.hpp>

namespace lockstep {

Metric read_tensor_metric(std::string_view name) {
  std::vector<std::string> names;
  names.reserve(tensor_metrics.size());
  for (const auto metric : tensor_metrics) {
    if (name_of(metric) == name) return metric;
    names.emplace_back(name_of(metric));
  }
  throw Error{Diagnostic{.message = fmt::format("'{}' is no metric", name),
                         .did_you_mean = did_you_mean(name, names),
                         .help = fmt::format("metrics: {}", fmt::join(names, ", "))}};
}

double read_bound(std::string_view key, std::string_view text) {
  double value = 0;
  const auto* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end) throw Error{fmt::format("bound '{}' is '{}', expected a number", key, text)};
  return value;
}

void set_bound(std::string_view key, double value, Criterion& criterion) {
  const auto keys = keys_of(criterion.metric);
  if (std::ranges::find(keys, key) == keys.end())
    throw Error{fmt::format("metric {} has no bound '{}'", name_of(criterion.metric), key),
                keys.empty() ? "it takes none" : fmt::format("it takes: {}", fmt::join(keys, ", "))};
  if (const auto problem = problem_of_bound(criterion.metric, key, value))
    throw Error{fmt::format("bound '{}' of {} {}", key, name_of(criterion.metric), *problem)};
  using Member = decltype(bound_members)::value_type;
  criterion.bound.*std::ranges::find(bound_members, key, &Member::first)->second = value;
}

}  // namespace lockstep
