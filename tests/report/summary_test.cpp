// Which records of rows make one summary, and what it says.

#include "report/summary.hpp"

#include "catch.hpp"
#include "records.hpp"
#include "report/terminal.hpp"

using namespace lockstep;
using namespace lockstep::test;

namespace {

RunRecord base() {
  RunRecord record;
  record.pipeline_name = "p";
  record.pipeline_sha256 = "aa";
  record.matrix = {"n=1", "n=2"};
  return record;
}

RunRecord row(std::int64_t n, RunVerdict verdict = RunVerdict::pass, int code = 0) {
  auto record = base();
  record.row = MatrixRow{"n=" + std::to_string(n), {{"n", n}}};
  record.run_id = "r";
  record.verdict = verdict;
  record.exit_code = code;
  record.seconds = static_cast<double>(n);
  record.steps = {step("a", StepStatus::pass, 0.1)};
  record.steps[0].checks = {check("same", Metric::bits, Verdict::pass)};
  return record;
}

RunRecord summary_of_rows(const std::vector<RunRecord>& records) {
  auto summary = base();
  summary.run_id = "r";
  summary.rows.emplace();
  for (const auto& record : records) summary.rows->push_back(summary_of(record));
  conclude_rows(summary);
  return summary;
}

std::string refusal(const std::vector<RunRecord>& records) {
  std::vector<std::string> files;
  for (std::size_t i = 0; i < records.size(); ++i) files.push_back(std::string(1, static_cast<char>('a' + i)));
  try {
    return "code " + std::to_string(merge_rows(records, files).exit_code);
  } catch (const Error& error) {
    CHECK(error.diagnostic().code == "F005");
    return error.diagnostic().message;
  }
}

/// The same with the first row's record changed.
std::string refusal(void (*change)(RunRecord&)) {
  auto first = row(1);
  change(first);
  return refusal({row(2), first});
}

}  // namespace

TEST_CASE("records that do not tell of the same pipeline, overlays or steps make no summary") {
  CHECK(refusal({row(1), row(2)}) == "code 0");
  CHECK(refusal([](RunRecord& r) { r.config_sha256 = {"00"}; }) ==
        "'a' and 'b' differ in what their --config files hold");
  CHECK(refusal([](RunRecord& r) { r.selection = {"--only a"}; }) ==
        "'a' and 'b' differ in their --only, --from, --to and --skip");
}

TEST_CASE("a record that contradicts itself makes no summary") {
  CHECK(refusal([](RunRecord& r) { r.verdict = RunVerdict::fail; }) ==
        "'b' cannot be believed: its verdict is fail and its exit code 0");
  CHECK(refusal([](RunRecord& r) { r.exit_code = 1; }) ==
        "'b' cannot be believed: its verdict is pass and its exit code 1");
  CHECK(refusal([](RunRecord& r) { r.steps[0].checks[0].verdict = Verdict::fail; }) ==
        "'b' cannot be believed: its verdict is pass and step 'a' failed");
  CHECK(refusal([](RunRecord& r) { r.steps[0].status = StepStatus::crashed; }) ==
        "'b' cannot be believed: its verdict is pass and step 'a' crashed");
  CHECK(refusal([](RunRecord& r) { r.steps[0].status.reset(); }) ==
        "'b' cannot be believed: its verdict is pass and step 'a' has not ended");
  CHECK(refusal([](RunRecord& r) { r.row->name = "n=9"; }) == "'b' cannot be believed: its matrix has no row 'n=9'");
  CHECK(refusal([](RunRecord& r) {  // a step that only ran for others may fail
          r.steps[0].checks[0].verdict = Verdict::fail;
          r.steps[0].scored = false;
        }) == "code 0");
  auto summary = summary_of_rows({row(1), row(2, RunVerdict::fail, 1)});
  summary.rows->push_back(summary.rows->front());
  CHECK(refusal({summary}) == "'a' cannot be believed: it has row 'n=1' twice");
  summary = summary_of_rows({row(1), row(2, RunVerdict::fail, 1)});
  summary.verdict = RunVerdict::pass;
  summary.exit_code = 0;
  CHECK(refusal({summary}) == "'a' cannot be believed: its verdict is pass and that of row 'n=2' fail");
}

TEST_CASE("what a summary itself came to counts, and an incomplete one is refused") {
  auto summary = summary_of_rows({row(1), row(2)});
  summary.verdict = RunVerdict::error;
  summary.exit_code = 4;
  summary.diagnostics = {{.code = "R001", .message = "the report cannot be written"}};
  const auto merged = merge_rows({summary}, {"out.json"});
  CHECK(merged.exit_code == 4);
  CHECK(merged.verdict == RunVerdict::error);
  CHECK(merged.message == "out.json: error");
  REQUIRE(merged.diagnostics.size() == 1);
  CHECK(merged.diagnostics[0].code == "R001");

  summary = base();
  summary.rows.emplace();
  summary.exit_code = 5;
  CHECK(refusal({summary, row(1), row(2)}) == "'a' is incomplete: its run ended before it had told of its rows");
}

TEST_CASE("of a row that crashed after its record was final, the summary's word wins, in any order") {
  const auto first = row(1);
  auto summary = summary_of_rows({first, row(2)});
  auto& told = summary.rows->front();
  told.verdict = RunVerdict::crashed;
  told.exit_code = 5;
  conclude_rows(summary);
  CHECK(refusal({summary, first, row(2)}) == "code 5");
  CHECK(refusal({first, row(2), summary}) == "code 5");
  auto again = first;
  again.run_id = "another";
  CHECK(refusal({summary, again}) == "row 'n=1' ran twice: it is in 'a' and in 'b'");
}

TEST_CASE("a row that passed without a check is not counted among those that passed") {
  auto unchecked = row(2);
  unchecked.steps[0].checks.clear();
  const auto merged = merge_rows({row(1), unchecked}, {"a", "b"});
  CHECK_THAT(terminal_report(merged, {}), contains_text("rows passed: 1 of 2 · without a check: 1"));
}
