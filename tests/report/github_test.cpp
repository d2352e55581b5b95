#include "report/github.hpp"

#include <regex>
#include <sstream>

#include "catch.hpp"
#include "golden.hpp"
#include "records.hpp"
#include "report/summary.hpp"

using namespace lockstep;
using namespace lockstep::test;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

const RepositoryPlace nowhere{};

}  // namespace

TEST_CASE("annotations read as approved") {
  auto run = example();
  run.steps[6].location = "pipelines/gemma4.toml:50:6";
  run.steps[7].status = StepStatus::error;
  run.steps[7].location = "pipelines/gemma4.toml:60:6";
  run.steps[7].reason = "no such file: 100% sure\nsecond line";
  run.steps[7].help = "name another";
  run.baseline = BaselineRecord{
      "ci/base.toml", "00", 14, {}, {{"mm_fusion", "matches_reference", {}, "close 0.5, was 0.3"}}, {}, {}, {}};
  run.diagnostics.push_back({.severity = Severity::warning, .code = "P030", .message = "a warning", .location = {}});
  golden::check("report/golden/github.txt", to_github(run, nowhere));
}

TEST_CASE("a check is annotated where its bound was set, and where the step stands if the bound is the step's own") {
  auto run = example();
  run.steps[6].location = "pipelines/gemma4.toml:50:6";
  const auto lines = lines_of(to_github(run, nowhere));
  REQUIRE(lines.size() == 2);
  CHECK(
      lines[0].starts_with("::error file=pipelines/gemma4.toml,line=50,col=6,title=mm_fusion%3A matches_reference::"));
  CHECK(lines[1].starts_with("::warning file=pipelines/gemma4.toml,line=42,col=1,title=vision_prefill"));
  run.steps[6].checks[0].bound_source = "--set step.mm_fusion.checks";
  CHECK(lines_of(to_github(run, nowhere))[0] == lines[0]);
}

TEST_CASE("what fails in a row is annotated at its bound, with the row in the title, ten of a row at most") {
  auto run = example();
  run.row = MatrixRow{"dtype=float32", {}};
  run.steps[6].checks[0].bound_source = "p.toml:9:3";
  RunRecord summary;
  summary.verdict = RunVerdict::fail;
  summary.pipeline_file = "p.toml";
  summary.rows = {summary_of(run)};
  const auto text = to_github(summary, nowhere);
  CHECK(lines_of(text).size() == 1);
  CHECK(
      text.starts_with("::error file=p.toml,line=9,col=3,title=row dtype=float32%3A mm_fusion%3A "
                       "matches_reference::1,024 of 20,480 differ"));
  run.steps[6].checks.assign(25, run.steps[6].checks[0]);
  CHECK(summary_of(run).failures.size() == 10);
  CHECK(summary_of(run).more_failures == 15);
}

TEST_CASE("a path below the repository is relative to it, another stays as it is") {
  auto run = example();
  const auto file_of = [&run](const std::string& place, const RepositoryPlace& repository) {
    run.steps[6].location = place;
    std::smatch match;
    const auto text = to_github(run, repository);
    REQUIRE(std::regex_search(text, match, std::regex("file=([^,]*),")));
    return match[1].str();
  };
  const RepositoryPlace repository{"/home/runner/repo", "/home/runner/repo/sub"};
  CHECK(file_of("p.toml:1:1", repository) == "sub/p.toml");
  CHECK(file_of("../p.toml:1:1", repository) == "p.toml");
  CHECK(file_of("/home/runner/repo/a/p.toml:1:1", repository) == "a/p.toml");
  CHECK(file_of("/home/runner/repository/p.toml:1:1", repository) == "/home/runner/repository/p.toml");
  CHECK(file_of("/etc/p.toml:1:1", repository) == "/etc/p.toml");
  CHECK(file_of("p.toml:1:1", nowhere) == "p.toml");
  CHECK(file_of("a:b,c.toml:1:1", nowhere) == "a%3Ab%2Cc.toml");
}

// GitHub: "%" is %25, "\r" %0D, "\n" %0A; in properties also ":" %3A and "," %2C.
TEST_CASE("nothing in a record begins a command of its own") {
  auto run = example();
  run.steps[6].id = "a,b:c\r\n::set-output name=x::y";
  run.steps[6].checks[0].metric = Metric::expect;
  run.steps[6].checks[0].message = "100%\r\n::add-mask::x";
  for (const auto& line : lines_of(to_github(run, nowhere)))
    CHECK(std::regex_match(line, std::regex("::(error|warning) ((file|line|col|title)=[^,:\r\n]*,?)*::[^\r\n]*")));
}

TEST_CASE("of more than ten annotations of a kind the last one counts the rest") {
  auto run = example();
  const auto check = run.steps[6].checks[0];
  run.steps[6].checks.assign(10, check);
  CHECK(lines_of(to_github(run, nowhere)).size() == 11);  // and a warning
  run.steps[6].checks.assign(25, check);
  const auto lines = lines_of(to_github(run, nowhere));
  REQUIRE(lines.size() == 11);
  CHECK(lines[9] == "::error title=lockstep::16 more errors; the log and the run record have them all");
}

TEST_CASE("an error comes before failed checks, whatever their order") {
  auto run = example();
  run.steps[7].status = StepStatus::crashed;
  run.steps[7].reason = "ended by signal 11";
  CHECK(lines_of(to_github(run, nowhere))[0] == "::error title=prefill%3A CRASH::ended by signal 11");
}

TEST_CASE("the annotation of a crashed step has the last lines that it wrote") {
  auto run = example();
  run.steps[7].status = StepStatus::crashed;
  run.steps[7].reason = "ended by signal 11";
  run.steps[7].output_tail = {"loading 100%", "::error::no command"};
  CHECK(lines_of(to_github(run, nowhere))[0] ==
        "::error title=prefill%3A CRASH::ended by signal 11%0A| loading 100%25%0A| ::error::no command");
}

TEST_CASE("a run in which all is well has no annotations") {
  auto run = example();
  run.steps.erase(run.steps.begin() + 5, run.steps.end());
  CHECK(to_github(run, nowhere).empty());
}
