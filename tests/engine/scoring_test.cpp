#include "catch.hpp"
#include "engine/toy_plan.hpp"

using namespace toy;

namespace {

PlanBuilder chain() {
  PlanBuilder plan;
  plan.add<Source>("a", [](Source& s, StepContext&) { s.out = 1; })
      .add("b", pass, {{"in", "a", "out"}})
      .add("c", pass, {{"in", "b", "out"}})
      .add("d", pass);
  return plan;
}

RunOptions only(std::vector<std::string> ids) {
  RunOptions options;
  options.only = std::move(ids);
  return options;
}

}  // namespace

TEST_CASE("--only scores the named step, runs what it needs unscored and skips the rest") {
  const auto record = chain().run(only({"c"}));
  CHECK(statuses(record) == "a done, b pass, c pass, d skipped (not selected)");
  CHECK_FALSE(record.steps[0].scored);
  CHECK_FALSE(record.steps[1].scored);
  CHECK(record.steps[2].scored);
  CHECK(record.exit_code == 0);
}

TEST_CASE("--from and --to bound the scored range, both ends included") {
  RunOptions options;
  options.from = "b";
  options.to = "c";
  const auto record = chain().run(options);
  CHECK(statuses(record) == "a done, b pass, c pass, d skipped (not selected)");
  CHECK_FALSE(record.steps[0].scored);
  CHECK(record.steps[1].scored);
  CHECK(record.steps[2].scored);
}

TEST_CASE("the FAIL of an unscored step does not count, its ERROR does") {
  const auto fails = PlanBuilder().add("a", fail).add("b", pass, {{"in", "a", "out"}}).run(only({"b"}));
  CHECK(statuses(fails) == "a fail, b pass");
  CHECK(fails.exit_code == 0);
  const auto errs =
      PlanBuilder().add("a", raise).add("b", pass, {{"in", "a", "out"}}).add("c", pass).run(only({"b", "c"}));
  CHECK(statuses(errs) == "a error (no weights), b skipped ('a' ended in ERROR), c pass");
  CHECK(errs.exit_code == 4);
}

TEST_CASE("a run in which no scored step ran verified nothing") {
  const auto record = PlanBuilder().skipped("a", "later").run();
  CHECK(record.exit_code == 1);
  CHECK(record.verdict == RunVerdict::fail);
  CHECK(record.message == "nothing was verified");
}

TEST_CASE("a run whose scored steps declare required checks and perform none verified nothing") {
  const auto record =
      PlanBuilder().add<Source>("loads", [](Source& s, StepContext&) { s.out = 1; }).add("verifies", skip_itself).run();
  CHECK(record.exit_code == 1);
  CHECK(record.message == "nothing was verified");
}

TEST_CASE("a run of steps that declare no check passes") {
  const auto record = chain().run(only({"a"}));
  CHECK(record.exit_code == 0);
  CHECK_FALSE(record.message.has_value());
}

TEST_CASE("checks with level inform alone do not make a run vacuous") {
  const auto record = PlanBuilder().add("a", fail).setting([](CheckSettings& s) { s.level = Level::inform; }).run();
  CHECK(record.steps[0].status == StepStatus::warn);
  CHECK(record.exit_code == 0);
}

TEST_CASE("a required check that is never performed is VACUOUS and fails the run, on_vacuous opts out") {
  const auto publish = [](Toy& t, StepContext&) { t.out = 1; };
  const auto vacuous = [&](OnVacuous policy) {
    return PlanBuilder()
        .add("other", pass)
        .add("a", publish)
        .setting([&](CheckSettings& s) { s.on_vacuous = policy; })
        .run();
  };
  const auto fails = vacuous(OnVacuous::fail);
  CHECK(fails.steps[1].checks.at(0).verdict == Verdict::vacuous);
  CHECK(fails.steps[1].status == StepStatus::fail);
  CHECK(fails.exit_code == 1);
  CHECK(vacuous(OnVacuous::warn).steps[1].status == StepStatus::warn);
  CHECK(vacuous(OnVacuous::warn).exit_code == 0);
  CHECK(vacuous(OnVacuous::allow).steps[1].status == StepStatus::pass);
}

TEST_CASE("a check with level off leaves no entry, and a step with no other check is DONE") {
  const auto record = PlanBuilder().add("a", fail).setting([](CheckSettings& s) { s.level = Level::off; }).run();
  CHECK(record.steps[0].checks.empty());
  CHECK(record.steps[0].status == StepStatus::done);
}

TEST_CASE("a run whose required checks are all turned off verified nothing") {
  const auto off = [](CheckSettings& s) { s.level = Level::off; };
  const auto record = PlanBuilder().add("a", fail).setting(off).run();
  CHECK(record.exit_code == 1);
  CHECK(record.message == "nothing was verified");
  CHECK(PlanBuilder().add("a", fail).setting(off).add("b", pass).run().exit_code == 0);
}

TEST_CASE("of several exit codes the highest wins") {
  CHECK(PlanBuilder().add("a", fail).run().exit_code == 1);
  CHECK(PlanBuilder().add("a", fail).add("b", raise).run().exit_code == 4);
  std::atomic<bool> interrupted{false};
  RunOptions options;
  options.interrupted = &interrupted;
  const auto record = PlanBuilder()
                          .add("a", fail)
                          .add("b",
                               [&](Toy& t, StepContext& c) {
                                 interrupted = true;
                                 raise(t, c);
                               })
                          .add("c", pass)
                          .run(options);
  CHECK(statuses(record) == "a fail, b error (no weights), c skipped (interrupted)");
  CHECK(record.exit_code == 6);
  CHECK(record.verdict == RunVerdict::interrupted);
}
