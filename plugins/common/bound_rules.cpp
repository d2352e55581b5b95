#include "bound_rules.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lockstep/diagnostic.hpp>

#include "check/name_rules.hpp"

namespace common {
namespace {

using namespace lockstep;

Metric metric_of(const std::string& word) {
  std::vector<std::string> names;
  for (const auto metric : tensor_metrics) {
    if (name_of(metric) == word) return metric;
    names.emplace_back(name_of(metric));
  }
  const auto near = did_you_mean(word, names);
  throw Error{fmt::format("'{}' is no metric", word), near.empty() ? fmt::format("one of {}", fmt::join(names, ", "))
                                                                   : fmt::format("did you mean '{}'?", near)};
}

/// `key` is one of those of a metric.
std::optional<double>& member_of(Bound& bound, std::string_view key) {
  using Member = decltype(bound_members)::value_type;
  return bound.*std::ranges::find(bound_members, key, &Member::first)->second;
}

/// "rtol=1e-3"
void read_bound(const std::string& word, Criterion& criterion) {
  const auto equals = word.find('=');
  if (equals == std::string::npos) throw Error{fmt::format("'{}' is no bound, expected KEY=NUMBER", word)};
  const auto key = word.substr(0, equals);
  const auto keys = keys_of(criterion.metric);
  if (std::ranges::find(keys, key) == keys.end())
    throw Error{fmt::format("metric {} has no bound '{}'", name_of(criterion.metric), key),
                keys.empty() ? "it takes none" : fmt::format("it takes {}", fmt::join(keys, ", "))};
  auto& member = member_of(criterion.bound, key);
  if (member) throw Error{fmt::format("'{}' is given twice", key)};
  double value = 0;
  const auto* begin = word.data() + equals + 1;
  const auto* end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || rest != end)
    throw Error{fmt::format("'{}' is '{}', expected a number", key, word.substr(equals + 1))};
  if (const auto problem = problem_of_bound(criterion.metric, key, value))
    throw Error{fmt::format("'{}' {}", key, *problem)};
  member = value;
}

}  // namespace

BoundRule parse_bound_rule(std::string_view text) {
  // The last colon: names may have some, bounds have none.
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0)
    throw Error{"expected 'PATTERN: METRIC KEY=NUMBER …'", "for example \"*.logits: norm_wise k=0.06\""};
  BoundRule rule{std::string(text), std::string(text.substr(0, colon)), {}};
  std::istringstream words{std::string(text.substr(colon + 1))};
  std::string word;
  if (!(words >> word)) throw Error{"a metric is missing after the ':'", "for example \"*.logits: norm_wise k=0.06\""};
  rule.criterion.metric = metric_of(word);
  while (words >> word) read_bound(word, rule.criterion);
  if (const auto problem = problem_of(rule.criterion)) throw Error{*problem};
  return rule;
}

std::vector<BoundRule> parse_bound_rules(const std::vector<std::string>& texts) {
  std::vector<BoundRule> rules;
  rules.reserve(texts.size());
  for (const auto& text : texts) rules.push_back(parse_bound_rule(text));
  return rules;
}

const BoundRule* rule_for(std::string_view name, const std::vector<BoundRule>& rules) {
  const auto fits = [&](const BoundRule& rule) { return matches_pattern(name, rule.pattern); };
  const auto found = std::ranges::find_if(rules, fits);
  return found == rules.end() ? nullptr : &*found;
}

}  // namespace common
