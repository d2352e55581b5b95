#include "report/junit.hpp"

#include <fstream>

#include "catch.hpp"
#include "process.hpp"
#include "records.hpp"

using namespace lockstep;
using namespace lockstep::test;

namespace {

/// What xmllint says about `xml`; empty if it keeps to the schema of tests/data/junit.
std::string complaints(const std::string& xml) {
  const auto file = std::filesystem::path(LOCKSTEP_BINARY_DIR) / "junit_test.xml";
  std::ofstream(file, std::ios::binary) << xml;
  const auto result =
      process::run({"sh", "-c",
                    "command -v xmllint >/dev/null || { echo 'xmllint is missing: install libxml2-utils'; exit 1; }; "
                    "xmllint --noout --schema \"$1\" \"$2\" 2>&1",
                    "sh", LOCKSTEP_TEST_DATA "/junit/junit.xsd", file.string()});
  return result.code == 0 ? "" : result.out;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("the schema rejects what CI servers reject") {
  CHECK(complaints("<testsuites><testsuite name='a' tests='1'/></testsuites>") != "");
  CHECK(complaints(
            "<testsuites><testsuite name='a' tests='1' failures='0' errors='0'><testcase/></testsuite></testsuites>") !=
        "");
  CHECK(complaints("<testsuites><testsuite name='a' tests='1' failures='0' errors='0'/></testsuites>") == "");
}

TEST_CASE("a report with every status keeps to the JUnit schema") {
  auto run = example();
  auto error = step("broken", StepStatus::error, 1.5);
  error.reason = "cannot compute";
  error.help = "try again";
  error.checks = {check("unjudged", Metric::bits, Verdict::pass)};
  error.checks[0].verdict.reset();
  run.steps.push_back(error);
  run.steps.push_back(step("crashed", StepStatus::crashed, 0));
  run.message = "nothing was verified";
  run.diagnostics.push_back({.code = "R001", .message = "cannot write"});
  CHECK(complaints(to_junit(run)) == "");
}

TEST_CASE("a suite per step, a case per check, one case for a step without checks") {
  const auto xml = to_junit(example());
  CHECK(count(xml, "<testsuite ") == 9);  // 8 steps and the run
  CHECK(xml.find(R"(<testsuite name="build_static_inputs" tests="9" failures="0" errors="0" skipped="0")") !=
        std::string::npos);
  CHECK(xml.find(R"(<testsuite name="mm_fusion" tests="1" failures="1" errors="0" skipped="0")") != std::string::npos);
  CHECK(xml.find(R"(<testsuite name="prefill" tests="1" failures="0" errors="0" skipped="1")") != std::string::npos);
  CHECK(xml.find(R"(<testsuites name="gemma4-static-runtime" tests="19" failures="1" errors="0")") !=
        std::string::npos);
  CHECK(xml.find(R"(<skipped message="not built yet">)") != std::string::npos);
  CHECK(xml.find(R"(<failure message="1,024 of 20,480 differ" type="bits">)") != std::string::npos);
}

TEST_CASE("a report is red exactly when the exit code is not 0") {
  const auto is_red = [](const RunRecord& run) {
    const auto xml = to_junit(run);
    return count(xml, "<failure ") + count(xml, "<error ") > 0;
  };
  auto run = example();
  CHECK(is_red(run));
  run.steps.erase(run.steps.begin() + 6);
  run.exit_code = 0;
  run.verdict = RunVerdict::pass;
  CHECK_FALSE(is_red(run));

  auto nothing = run;
  nothing.message = "nothing was verified";
  nothing.verdict = RunVerdict::fail;
  nothing.exit_code = 1;
  CHECK(is_red(nothing));
  auto empty_shard = run;
  empty_shard.message = "no rows in this shard";
  CHECK_FALSE(is_red(empty_shard));
  auto interrupted = run;
  interrupted.verdict = RunVerdict::interrupted;
  CHECK(is_red(interrupted));
  auto unwritten = run;
  unwritten.diagnostics.push_back({.code = "S004", .message = "dump cannot be written"});
  CHECK(is_red(unwritten));
  auto invalid = RunRecord{};
  invalid.verdict = RunVerdict::invalid;
  invalid.diagnostics.push_back({.code = "P001", .message = "cannot be read"});
  CHECK(is_red(invalid));

  auto vacuous = run;
  vacuous.steps[4].checks[0].verdict = Verdict::vacuous;
  CHECK(is_red(vacuous));
  vacuous.steps[4].checks[0].on_vacuous = OnVacuous::warn;
  CHECK_FALSE(is_red(vacuous));
  RunRecord rows;
  rows.message = "no rows in this shard";
  rows.verdict = RunVerdict::pass;
  rows.rows.emplace();
  CHECK_FALSE(is_red(rows));
  rows.rows->push_back({.row = {"a", {}}, .verdict = RunVerdict::fail, .exit_code = 1});
  rows.verdict = RunVerdict::fail;
  rows.message.reset();
  CHECK(count(to_junit(rows), "<failure ") == 2);  // of the row, and the verdict of all
  auto unscored = example();
  unscored.steps[6].scored = false;
  CHECK_FALSE(is_red(unscored));
}

TEST_CASE("no text of a step can break the XML") {
  auto run = example();
  run.steps[0].summary = "<&>\"' ]]> \x01\x1b \xff \xEF\xBF\xBF";
  run.steps[6].checks[0].message = "first <line>\nsecond";
  run.steps[7].reason = std::string("a\0b", 3);
  CHECK(complaints(to_junit(run)) == "");
}
