#include "check/name_rules.hpp"

#include <string>
#include <utility>
#include <vector>

#include <lockstep/diagnostic.hpp>

#include "catch.hpp"

using namespace lockstep;
using Names = std::vector<std::string>;
using Pairs = std::vector<std::pair<std::string, std::string>>;

namespace {

NameRules renames(const Names& texts) {
  NameRules rules;
  for (const auto& text : texts) rules.rename.push_back(RenameRule::parse(text));
  return rules;
}

std::string problem(const Names& expected, const Names& actual, const NameRules& rules) {
  try {
    (void)pair_names(expected, actual, rules);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

std::string parse_problem(const std::string& text) {
  try {
    (void)RenameRule::parse(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("a star stands for any characters, a question mark for one, all else for itself") {
  CHECK(matches_pattern("layers.0.weight", "*"));
  CHECK(matches_pattern("layers.0.weight", "layers.*.weight"));
  CHECK(matches_pattern("layers.0.self.weight", "layers.*.weight"));
  CHECK(matches_pattern("layers..weight", "layers.*.weight"));
  CHECK(matches_pattern("abcabd", "*ab?"));
  CHECK(matches_pattern("", "*"));
  CHECK(matches_pattern("", ""));
  CHECK(matches_pattern("a", "a**"));
  CHECK(matches_pattern("a[0]", "a[0]"));
  CHECK_FALSE(matches_pattern("layers.0.weight", "layers.*.bias"));
  CHECK_FALSE(matches_pattern("layers.0.weight", "layers"));
  CHECK_FALSE(matches_pattern("layersX0", "layers.0"));
  CHECK_FALSE(matches_pattern("", "?"));
  CHECK_FALSE(matches_pattern("a", ""));
}

TEST_CASE("a pattern of many stars does not take time beyond reason") {
  const std::string name(5000, 'a');
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  CHECK_FALSE(matches_pattern(name, pattern + "b"));
  CHECK(matches_pattern(name, pattern));
}

TEST_CASE("without rules equal names belong together, in the order of the expected side") {
  const auto result = pair_names({"b", "a", "only_expected"}, {"a", "x", "b"}, {});
  CHECK(result.pairs == Pairs{{"b", "b"}, {"a", "a"}});
  CHECK(result.missing == Names{"only_expected"});
  CHECK(result.unexpected == Names{"x"});
}

TEST_CASE("the first rule that fits renames, and the star carries what it stood for") {
  const auto result = pair_names({"encoder.0.w", "encoder.1.w", "encoder.1.b", "head"},
                                 {"enc.0.weight", "lm_head", "first", "encoder.1.b"},
                                 renames({"encoder.1.w=first", "encoder.*.w=enc.*.weight", "head=lm_head"}));
  CHECK(result.pairs == Pairs{{"encoder.0.w", "enc.0.weight"},
                              {"encoder.1.w", "first"},
                              {"encoder.1.b", "encoder.1.b"},
                              {"head", "lm_head"}});
  CHECK(result.missing.empty());
  CHECK(result.unexpected.empty());
}

TEST_CASE("two names may change places") {
  const auto result = pair_names({"q", "k"}, {"q", "k"}, renames({"q=k", "k=q"}));
  CHECK(result.pairs == Pairs{{"q", "k"}, {"k", "q"}});
}

TEST_CASE("two names with one counterpart are refused") {
  CHECK(problem({"a", "b"}, {"b"}, renames({"a=b"})) == "'a' and 'b' would both be compared with 'b'");
  CHECK(problem({"a", "b"}, {"c"}, renames({"a=c", "b=c"})) == "'a' and 'b' would both be compared with 'c'");
}

TEST_CASE("a rule and an included pattern that fit nothing are refused, an excluded pattern is not") {
  CHECK(problem({"a.w"}, {"b.w"}, renames({"A.*=b.*"})) == "'A.*=b.*' renames no tensor of the expected side");
  NameRules rules;
  rules.include = {"x*"};
  CHECK(problem({"a"}, {"a"}, rules) == "'x*' of include fits no tensor of either side");
  rules = {};
  rules.exclude = {"x*"};
  CHECK(problem({"a"}, {"a"}, rules) == "none");
}

TEST_CASE("what is excluded is neither compared, missing nor unexpected, under either name") {
  auto rules = renames({"a.*=b.*"});
  rules.exclude = {"a.cache", "*.tmp"};
  const auto result = pair_names({"a.x", "a.cache", "gone.tmp"}, {"b.x", "b.cache", "more.tmp", "y"}, rules);
  CHECK(result.pairs == Pairs{{"a.x", "b.x"}});
  CHECK(result.missing.empty());
  CHECK(result.unexpected == Names{"y"});
  rules = {};
  rules.include = {"a*"};
  const auto included = pair_names({"a", "b"}, {"a", "c", "a2"}, rules);
  CHECK(included.pairs == Pairs{{"a", "a"}});
  CHECK(included.missing.empty());
  CHECK(included.unexpected == Names{"a2"});
}

TEST_CASE("a rename that is not OLD=NEW is refused") {
  CHECK(parse_problem("a.*=b.*") == "none");
  CHECK(parse_problem("a") == "expected OLD=NEW");
  CHECK(parse_problem("=b") == "expected OLD=NEW");
  CHECK(parse_problem("a=") == "expected OLD=NEW");
  CHECK(parse_problem("a.*=b") == "'a.*' has a '*', 'b' has none");
  CHECK(parse_problem("a=b.*") == "'b.*' has a '*', 'a' has none");
  CHECK(parse_problem("*a*=b*") == "expected at most one '*' before and after the '='");
}
