#include "bound_rules.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

#include "check/name_rules.hpp"
#include "check/read_criterion.hpp"

namespace common {
namespace {

using namespace lockstep;

/// "rtol=1e-3"
void read_word(const std::string& word, Criterion& criterion, std::set<std::string>& seen) {
  const auto equals = word.find('=');
  if (equals == std::string::npos) throw Error{fmt::format("'{}' is no bound, expected KEY=NUMBER", word)};
  const auto key = word.substr(0, equals);
  set_bound(key, read_bound(key, std::string_view(word).substr(equals + 1)), criterion);
  if (!seen.insert(key).second) throw Error{fmt::format("'{}' is given twice", key)};
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
  rule.criterion.metric = read_tensor_metric(word);
  std::set<std::string> seen;
  while (words >> word) read_word(word, rule.criterion, seen);
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
