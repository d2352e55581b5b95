// Whether the record in the place of a row's record is to be believed.

#include "report/row_outcome.hpp"

#include "catch.hpp"
#include "records.hpp"

using namespace lockstep;
using namespace lockstep::test;

namespace {

const MatrixRow row{"n=1", {{"n", std::int64_t{1}}}};
const RowEnding went_well{"exited with code 0", 0};

RunRecord run_of_rows() {
  RunRecord run;
  run.pipeline_sha256 = "aa";
  run.overrides = {"--config c.toml"};
  run.config_sha256 = {"bb"};
  run.selection = {"--only a"};
  run.run_id = "today";
  run.matrix = {"n=1", "n=2"};
  return run;
}

/// The record that the row's process wrote when all its checks passed.
RunRecord passed() {
  auto record = run_of_rows();
  record.row = row;
  record.verdict = RunVerdict::pass;
  record.exit_code = 0;
  record.steps = {step("a", StepStatus::pass, 0.1)};
  record.steps[0].checks = {check("same", Metric::bits, Verdict::pass)};
  return record;
}

RowSummary outcome(const RunRecord& record, const RowEnding& ending = went_well) {
  return row_outcome(run_of_rows(), row, ending, record);
}

}  // namespace

TEST_CASE("a row passes by the record of its own process, which ended as the record says") {
  const auto told = outcome(passed());
  CHECK(told.verdict == RunVerdict::pass);
  CHECK(told.exit_code == 0);
  CHECK_FALSE(told.message);
  CHECK(told.run_id == "today");
  CHECK(told.checks == std::vector<std::pair<std::string, std::int64_t>>{{"pass", 1}});
}

TEST_CASE("a record of another run, another row or another pipeline is not believed") {
  const auto refused = [](void (*change)(RunRecord&)) {
    auto record = passed();
    change(record);
    const auto told = outcome(record);
    CHECK(told.verdict == RunVerdict::error);
    CHECK(told.exit_code == 4);
    CHECK(told.row == row);
    CHECK(told.checks.empty());
    return told.message.value_or("");
  };
  const std::string start = "the row's process exited with code 0, and its record ";
  CHECK(refused([](RunRecord& r) { r.run_id = "yesterday"; }) == start + "is of another run");
  CHECK(refused([](RunRecord& r) { r.run_id.clear(); }) == start + "is of another run");
  CHECK(refused([](RunRecord& r) { r.row->name = "n=2"; }) == start + "is of another row");
  CHECK(refused([](RunRecord& r) { r.row->values[0].second = std::int64_t{2}; }) == start + "is of another row");
  CHECK(refused([](RunRecord& r) { r.row.reset(); }) == start + "is of another row");
  CHECK(refused([](RunRecord& r) { r.pipeline_sha256 = "ab"; }) == start + "differs in the pipeline's sha256");
  CHECK(refused([](RunRecord& r) { r.overrides.clear(); }) == start + "differs in their --config and --set");
  CHECK(refused([](RunRecord& r) { r.config_sha256 = {"bc"}; }) == start + "differs in what their --config files hold");
  CHECK(refused([](RunRecord& r) { r.selection.clear(); }) ==
        start + "differs in their --only, --from, --to and --skip");
  CHECK(refused([](RunRecord& r) { r.matrix.pop_back(); }) == start + "differs in the rows of the matrix");
}

TEST_CASE("of the process and its record the worse counts") {
  const auto killed = outcome(passed(), {"was ended by signal 6 (SIGABRT)", 5});
  CHECK(killed.verdict == RunVerdict::crashed);
  CHECK(killed.message == "the row's process was ended by signal 6 (SIGABRT) after its record had said pass");
  const auto unprinted = outcome(passed(), {"exited with code 4", 4});
  CHECK(unprinted.verdict == RunVerdict::error);
  CHECK(unprinted.exit_code == 4);
  const auto failed = outcome(passed(), {"exited with code 1", 1});
  CHECK(failed.exit_code == 4);
  auto record = passed();
  record.verdict = RunVerdict::crashed;
  record.exit_code = 5;
  CHECK(outcome(record).exit_code == 5);
  CHECK(outcome(passed(), {"was interrupted", std::nullopt}).verdict == RunVerdict::pass);  // it had just ended
}

TEST_CASE("a record that contradicts itself is not believed") {
  auto record = passed();
  record.steps[0].checks[0].verdict = Verdict::fail;
  const auto told = outcome(record);
  CHECK(told.verdict == RunVerdict::error);
  CHECK(told.message == "the row's process exited with code 0, and its verdict is pass and step 'a' failed");
}

TEST_CASE("without a final record the process tells, and one that says all is well crashed") {
  auto record = passed();
  record.verdict = RunVerdict::incomplete;
  record.exit_code = 5;
  for (const int code : {0, 1, 5}) {
    CHECK(outcome(record, {"ended", code}).exit_code == 5);
    CHECK(row_outcome(run_of_rows(), row, {"ended", code}, std::nullopt).verdict == RunVerdict::crashed);
  }
  const auto full_disk = row_outcome(run_of_rows(), row, {"exited with code 4", 4}, std::nullopt);
  CHECK(full_disk.verdict == RunVerdict::error);
  CHECK(full_disk.message == "the row's process exited with code 4 and left no record");
  CHECK(row_outcome(run_of_rows(), row, {"exited with code 2", 2}, std::nullopt).verdict == RunVerdict::invalid);
  CHECK(outcome(record, {"was interrupted", std::nullopt}).verdict == RunVerdict::interrupted);
}
