#include "report/markdown.hpp"

#include <algorithm>
#include <regex>
#include <sstream>

#include "catch.hpp"
#include "golden.hpp"
#include "records.hpp"

using namespace lockstep;
using namespace lockstep::test;

namespace {

constexpr std::size_t limit_of_github = 65'536;

RunRecord run_of_many_checks(Verdict verdict) {
  auto run = example();
  auto& checks = run.steps[6].checks;
  checks.clear();
  for (int i = 0; i < 10'000; ++i) {
    checks.push_back(bits_equal("hidden_states", 20480));
    checks.back().subject = "layer " + std::to_string(i);
    checks.back().verdict = verdict;
    if (verdict == Verdict::fail) checks.back().mismatched = 7;
  }
  return run;
}

RunRecord hostile() {
  auto run = example();
  run.pipeline_name = "a | b `c` <script>alert(1)</script> @octocat #12 [x](https://example.org) ![i](j)\n# heading";
  run.overrides = {"--set prompt=it's ``` @octocat\n# not a heading"};
  auto& check = run.steps[6].checks[0];
  check.subject = "| --- |";
  check.message = "<img src=x onerror=alert(1)> @octocat closes #1";
  check.metric = Metric::expect;
  check.bound_source = "a`b|c.toml:1:2";
  run.steps[0].id = "</details> \\";
  run.environment.emplace_back("``", "`");
  run.message = "**bold** ~~struck~~ $x$";
  return run;
}

}  // namespace

TEST_CASE("the Markdown report reads as approved") {
  golden::check("report/golden/markdown.md", to_markdown(example()));
  golden::check("report/golden/markdown-hostile.md", to_markdown(hostile()));
}

TEST_CASE("the Markdown report mentions nobody, links nothing and opens no HTML of the record's") {
  auto text = to_markdown(hostile());
  // What the report itself writes, and code, in which GitHub looks for nothing.
  text = std::regex_replace(text, std::regex("</?(details|summary|code|br)>"), "");
  text = std::regex_replace(text, std::regex("\n(`{3,})sh\n[^]*?\n\\1\n"), "");
  text = std::regex_replace(text, std::regex("`[^`\n]*`"), "");
  CHECK(text.find('<') == std::string::npos);
  CHECK(text.find("@o") == std::string::npos);
  CHECK_FALSE(std::regex_search(text, std::regex("[^&]#1")));
  CHECK(text.find("](") == std::string::npos);
  CHECK(text.find('`') == std::string::npos);
}

TEST_CASE("every row of a table of the Markdown report has as many cells as its head") {
  std::istringstream lines(to_markdown(hostile()));
  std::string line;
  std::ptrdiff_t expected = 0;
  int rows = 0;
  while (std::getline(lines, line)) {
    const auto pipes = std::ranges::count(line, '|');
    if (!line.starts_with("|")) {
      expected = 0;
      continue;
    }
    if (expected == 0) expected = pipes;
    INFO(line);
    CHECK(pipes == expected);
    ++rows;
  }
  CHECK(rows > 20);
}

TEST_CASE("ten thousand checks fit into a comment, and what was left out is counted") {
  for (const auto verdict : {Verdict::fail, Verdict::pass}) {
    const auto text = to_markdown(run_of_many_checks(verdict));
    CHECK(text.size() < limit_of_github);
    std::smatch match;
    REQUIRE(std::regex_search(text, match, std::regex("… and ([0-9,]+) more (findings|checks), which")));
    auto left_out = match[1].str();
    std::erase(left_out, ',');
    std::size_t shown = 0;
    for (auto at = text.find("| `hidden_states` |"); at != std::string::npos;
         at = text.find("| `hidden_states` |", at + 1))
      ++shown;
    CHECK(shown > 100);
    const std::size_t others = verdict == Verdict::pass ? 12 : 1;  // passing checks of other steps; a warning
    CHECK(std::stoul(left_out) >= 10'000 - shown);
    CHECK(std::stoul(left_out) <= 10'000 - shown + others);
  }
}

TEST_CASE("long names and many fields do not push the verdict out of a comment") {
  auto run = run_of_many_checks(Verdict::fail);
  run.pipeline_name = std::string(100'000, '@');
  for (int i = 0; i < 5000; ++i) run.environment.emplace_back("key" + std::to_string(i), std::string(100, '|'));
  run.overrides = std::vector<std::string>(10'000, "--set a=b");
  for (auto& check : run.steps[6].checks) check.subject = std::string(5'000, '<');
  const auto text = to_markdown(run);
  CHECK(text.size() < limit_of_github);
  CHECK(text.starts_with("## ❌ "));
  CHECK(text.find("hidden_states") != std::string::npos);
}

TEST_CASE("the last lines that a crashed step wrote stand beside its reason") {
  auto run = example();
  run.steps[2].status = StepStatus::crashed;
  run.steps[2].reason = "was ended by signal 11 (SIGSEGV)";
  for (int i = 0; i < 12; ++i) run.steps[2].output_tail.push_back("line " + std::to_string(i));
  const auto text = to_markdown(run);
  CHECK_THAT(text, contains_text("SIGSEGV"));
  CHECK_THAT(text, contains_text("`line 2`<br>`line 3`"));
  CHECK_THAT(text, contains_text("`line 11`"));
  CHECK(text.find("`line 1`") == std::string::npos);
}

TEST_CASE("what is worse than the baseline stands in the Markdown report") {
  auto run = example();
  run.baseline = BaselineRecord{
      "ci/base.toml", "00", 14, {"a note"}, {{"prefill", "logits", "layer 3", "close 0.5, was 0.3"}}, {}, {}, {}};
  const auto text = to_markdown(run);
  CHECK(text.find("| **worse** | `prefill` | `logits` | layer 3 | close 0.5, was 0.3 |") != std::string::npos);
  CHECK(text.find("baseline ci/base.toml: 14 checks compared, 1 worse") != std::string::npos);
}
