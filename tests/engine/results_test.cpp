#include "engine/results.hpp"

#include "catch.hpp"
#include "engine/toy_plan.hpp"

using namespace toy;

namespace {

/// Notes how many tokens are alive after each step.
struct AliveAfterStep final : RunObserver {
  std::vector<int> alive;
  void step_finished(const RunRecord&, std::size_t) override { alive.push_back(Token::alive); }
};

}  // namespace

TEST_CASE("a result is released right after its last reader") {
  REQUIRE(Token::alive == 0);
  AliveAfterStep counter;
  PlanBuilder()
      .add<Source>("a", [](Source& s, StepContext&) { s.out = 7; })
      .add("b", pass, {{"in", "a", "out"}})
      .add("c",
           [](Toy& t, StepContext& c) {
             CHECK(t.in->value == 7);
             pass(t, c);
           },
           {{"in", "a", "out"}})
      .add("d", pass, {{"in", "c", "out"}})
      .run({}, {&counter});
  // a's token lives until c; b's has no reader and is never kept; c's lives until d; d's has no reader.
  CHECK(counter.alive == std::vector<int>{1, 1, 1, 0});
}

TEST_CASE("a reader that is skipped releases what it would have read") {
  AliveAfterStep counter;
  PlanBuilder()
      .add<Source>("a", [](Source& s, StepContext&) { s.out = 7; })
      .add("broken", raise)
      .add("reader", pass, {{"in", "a", "out"}, {"in2", "broken", "out"}})
      .run({}, {&counter});
  CHECK(counter.alive == std::vector<int>{1, 1, 0});
}

TEST_CASE("two inputs of one step on the same output count as two readers of it") {
  const auto record = PlanBuilder()
                          .add<Source>("a", [](Source& s, StepContext&) { s.out = 7; })
                          .add("b",
                               [](Toy& t, StepContext& c) {
                                 CHECK(t.in->value == t.in2->value);
                                 pass(t, c);
                               },
                               {{"in", "a", "out"}, {"in2", "a", "out"}})
                          .run();
  CHECK(record.verdict == RunVerdict::pass);
  CHECK(Token::alive == 0);
}
