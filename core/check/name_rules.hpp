#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lockstep/export.hpp>

namespace lockstep {

/// True if `pattern` describes all of `name`: `*` stands for any characters (none too), `?` for one, all else for
/// itself.
[[nodiscard]] LOCKSTEP_API bool matches_pattern(std::string_view name, std::string_view pattern);
[[nodiscard]] LOCKSTEP_API bool matches_any(std::string_view name, const std::vector<std::string>& patterns);

/// "OLD=NEW": what the expected side calls OLD is called NEW on the actual side. With a `*` in each, what the first one
/// stands for is put in the place of the second.
struct RenameRule {
  std::string text;  ///< as it was written
  std::string from;
  std::string to;

  /// Throws Error that says what is wrong with the text, without naming where it was written.
  [[nodiscard]] LOCKSTEP_API static RenameRule parse(std::string_view text);
};

/// Which tensors of two sets belong together.
struct NameRules {
  std::vector<RenameRule> rename = {};    ///< the first that fits a name counts
  std::vector<std::string> include = {};  ///< patterns; none: all
  std::vector<std::string> exclude = {};  ///< patterns
};

struct NamePairs {
  std::vector<std::pair<std::string, std::string>> pairs;  ///< expected and actual, in the order of the expected side
  std::vector<std::string> missing;                        ///< expected names without a counterpart
  std::vector<std::string> unexpected;                     ///< actual names that are nobody's counterpart
};

/// Pairs the names of two sides. `include` and `exclude` speak of expected names; a name that only the actual side has
/// is held against them as it is. Throws Error if two expected names have the same counterpart, or if a rule or a
/// pattern of `include` fits no name.
[[nodiscard]] LOCKSTEP_API NamePairs pair_names(const std::vector<std::string>& expected,
                                                const std::vector<std::string>& actual, const NameRules& rules);

}  // namespace lockstep
