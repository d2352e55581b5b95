#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <lockstep/check.hpp>

namespace common {

/// "PATTERN: METRIC [KEY=NUMBER …]": the criterion of every tensor whose name fits the pattern.
struct BoundRule {
  std::string text;  ///< as it was written
  std::string pattern;
  lockstep::Criterion criterion;
};

/// Throws lockstep::Error that says what is wrong, without naming where the rule was written.
[[nodiscard]] BoundRule parse_bound_rule(std::string_view text);
[[nodiscard]] std::vector<BoundRule> parse_bound_rules(const std::vector<std::string>& texts);

/// The first rule that fits `name`; null if none does.
[[nodiscard]] const BoundRule* rule_for(std::string_view name, const std::vector<BoundRule>& rules);

}  // namespace common
