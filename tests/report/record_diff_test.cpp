#include "report/record_diff.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "golden.hpp"
#include "records.hpp"
#include "report/record_diff_text.hpp"

using namespace lockstep;
using namespace lockstep::test;
using Group = RecordChange::Group;

namespace {

/// The only change.
RecordChange only(const RunRecord& before, const RunRecord& after) {
  const auto changes = diff_records(before, after);
  REQUIRE(changes.size() == 1);
  return changes.front();
}

RunRecord moved() {
  auto run = example();
  run.verdict = RunVerdict::pass;
  run.exit_code = 0;
  run.seconds = 1.42;
  run.environment[0].second = "2.14.0";
  run.environment.emplace_back("driver", "5.1");
  run.steps[2].build_id = "cafe";
  run.steps[3].checks.pop_back();
  run.steps[4].parameters = {{"dtype", "float32"}};
  run.steps[4].inputs = {{"batch", "other.batch"}};
  run.steps[4].outputs[0].tensors[0].shape = {1, 128, 128};
  run.steps[5].checks[1].value = 0.062;
  run.steps[5].checks[1].bound.max = 0.1;
  run.steps[6].status = StepStatus::pass;
  run.steps[6].checks[0].verdict = Verdict::pass;
  run.steps[6].checks[0].ladder = "close";
  run.steps[6].checks.push_back(bits_equal("new_check", 3));
  run.steps.pop_back();
  run.steps.push_back(step("decode", StepStatus::pass, 0.1));
  return run;
}

}  // namespace

TEST_CASE("a difference of records reads as approved") {
  const auto changes = diff_records(example(), moved());
  golden::check("report/golden/diff.txt", record_diff_text(changes, {}));
  golden::check("report/golden/diff-verbose.txt", record_diff_text(changes, {false, Detail::verbose}));
  golden::check("report/golden/diff.json", record_diff_json("a.json", "b.json", changes));
}

TEST_CASE("a record does not differ from itself, nor from one of other times, memory and places") {
  auto run = example();
  run.steps[6].checks[0].statistics.emplace_back("cosine", std::numeric_limits<double>::quiet_NaN());
  CHECK(diff_records(run, run).empty());
  auto again = run;
  again.seconds *= 2;
  again.steps[0].seconds = 9;
  again.steps[0].peak_rss_bytes = 1;
  again.steps[0].location = "moved.toml:1:1";
  again.steps[6].checks[0].bound_source = "moved.toml:2:2";
  const auto changes = diff_records(run, again);
  CHECK(changes.size() == 5);
  CHECK(is_equal(changes));
  CHECK(record_diff_text(changes, {}) == "no difference\n");
}

TEST_CASE("each field that moves is one change, named") {
  const auto run = example();
  auto other = run;
  SECTION("where a step ran") {
    other.steps[5].isolated = true;
    CHECK(only(run, other).field == "isolation");
  }
  SECTION("the order of the steps") {
    std::swap(other.steps[0], other.steps[1]);
    CHECK(only(run, other).field == "steps");
  }
  SECTION("what the run was held against") {
    auto before = run;
    before.baseline.emplace();
    before.baseline->sha256 = "aa";
    other = before;
    other.baseline->sha256 = "bb";
    const auto change = only(before, other);
    CHECK(change.field == "baseline.sha256");
    CHECK(change.group == Group::setup);
    CHECK_FALSE(is_equal(diff_records(run, before)));
  }
  SECTION("which steps were to run, and what the overlays held") {
    other.selection = {"--only mm_fusion"};
    CHECK(only(run, other).field == "selection");
    other = run;
    other.config_sha256 = {"aa"};
    CHECK(only(run, other).field == "config_sha256");
  }
  SECTION("a value, with its factor") {
    other.steps[5].checks[1].value = 0.062;
    const auto change = only(run, other);
    CHECK(change.field == "value");
    CHECK(change.group == Group::value);
    CHECK(factor_of(change) == Approx(2.0));
  }
  SECTION("a bound") {
    other.steps[5].checks[1].bound.max = 0.5;
    CHECK(only(run, other).field == "bound.max");
  }
  SECTION("a bound that is new") {
    other.steps[5].checks[1].bound.atol = 0.5;
    const auto change = only(run, other);
    CHECK(change.field == "bound.atol");
    CHECK_FALSE(change.before);
  }
  SECTION("a statistic") {
    other.steps[6].checks[0].statistics[0].second = 1;
    CHECK(only(run, other).field == "statistics.max_abs");
  }
  SECTION("the worst element") {
    other.steps[6].checks[0].worst->index[1] = 66;
    CHECK(only(run, other).field == "worst.index");
  }
  SECTION("a shape") {
    other.steps[4].outputs[1].tensors[0].shape = {1, 161};
    CHECK(only(run, other).field == "outputs.batch.input_ids.shape");
  }
  SECTION("a build id") {
    other.steps[4].build_id = "ff";
    CHECK(only(run, other).field == "plugin.build_id");
  }
  SECTION("the pipeline") {
    other.pipeline_sha256 = "ff";
    CHECK(only(run, other).group == Group::environment);
  }
  SECTION("a diagnostic") {
    other.diagnostics.push_back({.code = "R001", .message = "disk full"});
    CHECK(only(run, other).field == "diagnostics");
  }
}

TEST_CASE("checks of one name are told apart by subject, and by order where that is equal") {
  auto run = example();
  auto& checks = run.steps[6].checks;
  const auto check = checks[0];
  checks.assign(4, check);
  checks[0].subject = "layer 1";
  checks[1].subject = "layer 2";
  auto other = run;
  std::swap(other.steps[6].checks[0], other.steps[6].checks[1]);
  CHECK(diff_records(run, other).empty());
  other.steps[6].checks[3].mismatched = 1;
  CHECK(only(run, other).field == "mismatched");
  other.steps[6].checks.pop_back();
  CHECK(only(run, other).group == Group::presence);
}

TEST_CASE("verdicts come first, whatever the order of the steps") {
  const auto changes = diff_records(example(), moved());
  CHECK(std::ranges::is_sorted(changes, {}, &RecordChange::group));
  CHECK(changes.front().field == "verdict");
  CHECK(changes.front().step.empty());
}

TEST_CASE("each of ten thousand checks that moved is a change") {
  auto run = example();
  for (int i = 0; i < 10'000; ++i) {
    run.steps[6].checks.push_back(bits_equal("hidden_states", 1));
    run.steps[6].checks.back().subject = "layer " + std::to_string(i);
  }
  auto other = run;
  for (auto& check : other.steps[6].checks) check.value = 2;
  const auto changes = diff_records(run, other);
  CHECK(changes.size() == 10'001);
}

TEST_CASE("rows of two summaries are compared by name, and one that only one has is a difference") {
  RunRecord before;
  before.rows.emplace();
  for (const auto* name : {"n=1", "n=2", "n=3"}) {
    RowSummary row{.row = {name, {}}, .verdict = RunVerdict::pass};
    row.checks.emplace_back("pass", 4);
    before.rows->push_back(std::move(row));
  }
  auto after = before;
  after.rows->at(0).seconds = 9;
  CHECK(is_equal(diff_records(before, after)));
  std::swap(after.rows->at(0), after.rows->at(1));
  CHECK(is_equal(diff_records(before, after)));

  after.rows->at(0).verdict = RunVerdict::fail;  // of n=2
  after.rows->at(0).checks = {{"pass", 3}, {"fail", 1}};
  after.rows->pop_back();
  std::vector<std::string> fields;
  for (const auto& change : diff_records(before, after))
    if (change.group != RecordChange::Group::information) fields.push_back(change.field);
  CHECK(fields ==
        std::vector<std::string>{"rows.n=2.verdict", "rows.n=2.checks.pass", "rows.n=2.checks.fail", "rows.n=3"});
}

TEST_CASE("a record does not differ from itself, whatever names in it are equal") {
  auto run = example();
  run.steps[1].id = run.steps[0].id;
  run.steps[0].outputs = {{"o.x", "t", {{"", DType::int8, {1}}}}, {"o", "t", {{"x", DType::boolean, {2}}}}};
  run.rows = {{.row = {"n=0", {}}, .verdict = RunVerdict::pass}, {.row = {"n=0", {}}, .verdict = RunVerdict::fail}};
  CHECK(diff_records(run, run).empty());
}

TEST_CASE("records of two rows of one pipeline are not equal") {
  RunRecord before;
  before.row = MatrixRow{"n=1", {}};
  auto after = before;
  CHECK(is_equal(diff_records(before, after)));
  after.row = MatrixRow{"n=2", {}};
  CHECK_FALSE(is_equal(diff_records(before, after)));
}
