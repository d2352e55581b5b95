#include <string>
#include <vector>

#include "catch.hpp"
#include "testing/toy_steps.hpp"

using namespace toy;
using Texts = std::vector<std::string>;

namespace {

StepBench bench_of(const std::vector<float>& x) {
  auto bench = StepBench::of<AddOne>();
  bench.bind("x", floats(x));
  return bench;
}

}  // namespace

TEST_CASE("a bench gives status, verdicts, outputs, summary and fields of a step that passes") {
  auto bench = bench_of({1, 2, 3});
  bench.bind("note", std::string("three")).run();
  CHECK(bench.status() == "pass");
  CHECK(bench.verdict("matches") == Verdict::pass);
  CHECK(bench.verdict("counted", "all") == Verdict::pass);
  CHECK(bench.with(Verdict::pass) == Texts{"matches", "counted"});
  CHECK(bench.output<Tensor>("y")->values<float>()[2] == 4.0F);
  CHECK(bench.summary() == "three");
  REQUIRE(bench.recorded().size() == 1);
  CHECK(bench.recorded()[0].second == Value(3));
  CHECK_FALSE(bench.error());
  CHECK_FALSE(bench.skip_reason());
}

TEST_CASE("a wrong number fails, an informational check warns, and the output is there all the same") {
  auto bench = bench_of({1, 2});
  bench.set("offset", 1.5).run();
  CHECK(bench.status() == "fail");
  CHECK(bench.verdict("matches") == Verdict::fail);
  CHECK(bench.result("matches").value == 0.5);
  CHECK(bench.verdict("counted", "all") == Verdict::warn);
  CHECK(bench.output<Tensor>("y"));
  CHECK_THAT(bench.report(), Catch::Matchers::Contains("FAIL") && Catch::Matchers::Contains("0.5"));
}

TEST_CASE("bounds and levels are configured as in a pipeline") {
  auto wide = bench_of({1, 2, 3});
  wide.set("offset", 1.5).configure("matches", {{"max", 0.75}}).run();
  CHECK(wide.verdict("matches") == Verdict::pass);
  CHECK(wide.result("matches").bound_source == "checks.matches");
  auto informed = bench_of({1, 2, 3});
  informed.set("offset", 1.5).configure("matches", {{"level", "inform"}}).run();
  CHECK(informed.status() == "warn");
}

TEST_CASE("what a pipeline would be refused for is found with its code, place and suggestion") {
  auto bench = StepBench::of<AddOne>();
  bench.set("ofset", 1.0).set("mode", "rum").set("forbidden", true).configure("matches", {{"rtol", 0.1}});
  const auto diagnostics = bench.diagnostics();
  REQUIRE(diagnostics.size() == 3);
  CHECK(diagnostics[0].code == "P014");
  CHECK(diagnostics[0].did_you_mean == "offset");
  CHECK(bench.problems() ==
        Texts{"with.ofset: P014: step 'bench' has no parameter 'ofset', did you mean 'offset'?",
              "with.mode: P018: parameter 'mode' of step 'bench' is 'rum', expected one of 'run', 'throw', 'skip', "
              "'silent', did you mean 'run'?",
              "checks.matches: P051: check 'matches' of step 'bench' has no key 'rtol'; its metric is 'max_abs'"});
}

TEST_CASE("a wrong type, a value out of range and a broken rule are found") {
  CHECK(StepBench::of<AddOne>().set("offset", "two").diagnostics().at(0).code == "P016");
  CHECK(StepBench::of<AddOne>().set("offset", 11).diagnostics().at(0).code == "P017");
  CHECK(StepBench::of<AddOne>().set("forbidden", true).problems() ==
        Texts{"with.forbidden: P020: step 'bench': forbidden is true, expected false"});
  CHECK(StepBench::of<AddOne>().problems().empty());
}

TEST_CASE("a step with wrong parameters does not run") {
  auto bench = bench_of({1});
  bench.set("offset", -1);
  CHECK_THROWS_WITH(bench.run(), Catch::Matchers::Contains("with.offset: P017"));
  CHECK_THROWS_WITH(bench.status(), Catch::Matchers::Contains("has not run yet"));
}

TEST_CASE("a step that throws is an error, its checks have no verdict and its outputs are gone") {
  auto bench = bench_of({1});
  bench.set("mode", "throw").run();
  CHECK(bench.status() == "error");
  CHECK(bench.error() == "the device is gone");
  CHECK(bench.output<Tensor>("y") == nullptr);
  CHECK_THROWS_AS(bench.verdict("matches"), Error);
}

TEST_CASE("a step that publishes nothing and fails nothing is an error, as in a run") {
  auto bench = bench_of({1, 2, 3});
  bench.set("mode", "silent").run();
  CHECK(bench.status() == "error");
  CHECK_THAT(bench.error().value(), Catch::Matchers::Contains("did not publish 'y'"));
}

TEST_CASE("a step that skips itself gives its reason") {
  auto bench = bench_of({1});
  bench.set("mode", "skip").run();
  CHECK(bench.status() == "skipped");
  CHECK(bench.skip_reason() == "nothing to add to");
  CHECK(bench.results().empty());
}

TEST_CASE("wrong use of the bench is refused with what was found and what is there") {
  auto bench = StepBench::of<AddOne>();
  CHECK_THROWS_WITH(bench.bind("nota", std::string()),
                    Catch::Matchers::Contains("no input 'nota', did you mean 'note'?"));
  CHECK_THROWS_WITH(bench.bind("x", std::string("no tensor")),
                    Catch::Matchers::Contains("input 'x' takes 'lockstep.tensor/1', the value is 'lockstep.text/1'"));
  CHECK_THROWS_WITH(bench.run(), Catch::Matchers::Contains("input 'x' (lockstep.tensor/1) has no value"));
  bench.bind("x", floats({1, 2, 3})).run();
  CHECK_THROWS_WITH(bench.run(), Catch::Matchers::Contains("has run already"));
  CHECK_THROWS_WITH(bench.verdict("match"), Catch::Matchers::Contains("did you mean 'matches'?"));
  CHECK_THROWS_WITH(bench.verdict("counted", "some"), Catch::Matchers::Contains("no entry for 'some'"));
  CHECK_THROWS_WITH(bench.output<std::string>("y"), Catch::Matchers::Contains("it was asked for as 'lockstep.text/1'"));
  CHECK_THROWS_WITH(StepBench("toy.nowhere"), Catch::Matchers::Contains("no plugin for step 'toy.nowhere' was found"));
}
