#include "check/name_rules.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

namespace lockstep {
namespace {

/// What `name` is called by `rule`; none if the rule does not fit.
std::optional<std::string> renamed(const std::string& name, const RenameRule& rule) {
  const auto star = rule.from.find('*');
  if (star == std::string::npos) return name == rule.from ? std::optional(rule.to) : std::nullopt;
  const auto before = std::string_view(rule.from).substr(0, star);
  const auto after = std::string_view(rule.from).substr(star + 1);
  if (name.size() < before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after))
    return std::nullopt;
  auto result = rule.to;
  return result.replace(rule.to.find('*'), 1, name, star, name.size() - before.size() - after.size());
}

/// The counterpart of each expected name.
std::map<std::string, std::string> counterparts(const std::vector<std::string>& expected,
                                                const std::vector<RenameRule>& rules) {
  std::map<std::string, std::string> result;
  std::map<std::string, std::string> taken;
  std::vector<bool> fits(rules.size());
  for (const auto& name : expected) {
    auto counterpart = name;
    bool done = false;
    for (std::size_t i = 0; i < rules.size(); ++i) {
      const auto other = renamed(name, rules[i]);
      fits[i] = fits[i] || other.has_value();
      if (other && !std::exchange(done, true)) counterpart = *other;
    }
    const auto [place, is_new] = taken.emplace(counterpart, name);
    if (!is_new)
      throw Error{fmt::format("'{}' and '{}' would both be compared with '{}'", place->second, name, counterpart),
                  "a tensor has one counterpart: rename one of them to something else, or exclude what it is not "
                  "compared with"};
    result.emplace(name, counterpart);
  }
  for (std::size_t i = 0; i < rules.size(); ++i)
    if (!fits[i])
      throw Error{Diagnostic{.message = fmt::format("'{}' renames no tensor of the expected side", rules[i].text),
                             .did_you_mean = did_you_mean(rules[i].from, expected)}};
  return result;
}

}  // namespace

bool matches_pattern(std::string_view name, std::string_view pattern) {
  std::size_t n = 0;
  std::size_t p = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;  // where the last star's part of the name ends so far
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool matches_any(std::string_view name, const std::vector<std::string>& patterns) {
  return std::ranges::any_of(patterns, [&](const auto& pattern) { return matches_pattern(name, pattern); });
}

RenameRule RenameRule::parse(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size())
    throw Error{"expected OLD=NEW", "OLD is a tensor's name on the expected side, NEW its name on the actual side"};
  RenameRule rule{std::string(text), std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
  const auto stars = [](const std::string& name) { return std::ranges::count(name, '*'); };
  if (stars(rule.from) > 1 || stars(rule.to) > 1)
    throw Error{"expected at most one '*' before and after the '='", "write several rules"};
  if (stars(rule.from) != stars(rule.to))
    throw Error{fmt::format("'{}' has a '*', '{}' has none", stars(rule.from) == 1 ? rule.from : rule.to,
                            stars(rule.from) == 1 ? rule.to : rule.from),
                "what the '*' of OLD stands for is put in the place of the '*' of NEW"};
  return rule;
}

NamePairs pair_names(const std::vector<std::string>& expected, const std::vector<std::string>& actual,
                     const NameRules& rules) {
  const auto selected = [&](const std::string& name) {
    return (rules.include.empty() || matches_any(name, rules.include)) && !matches_any(name, rules.exclude);
  };
  for (const auto& pattern : rules.include) {
    const auto fits = [&](const std::string& name) { return matches_pattern(name, pattern); };
    if (!std::ranges::any_of(expected, fits) && !std::ranges::any_of(actual, fits))
      throw Error{Diagnostic{.message = fmt::format("'{}' of include fits no tensor of either side", pattern),
                             .did_you_mean = did_you_mean(pattern, expected)}};
  }
  const auto other = counterparts(expected, rules.rename);
  const std::set<std::string> there(actual.begin(), actual.end());
  NamePairs result;
  std::set<std::string> known;
  for (const auto& name : expected) {
    const auto& counterpart = other.at(name);
    known.insert(counterpart);
    if (!selected(name)) continue;
    if (there.contains(counterpart)) {
      result.pairs.emplace_back(name, counterpart);
    } else {
      result.missing.push_back(name);
    }
  }
  for (const auto& name : actual)
    if (!known.contains(name) && selected(name)) result.unexpected.push_back(name);
  return result;
}

}  // namespace lockstep
