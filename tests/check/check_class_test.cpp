#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <lockstep/step.hpp>

#include "catch.hpp"

using namespace lockstep;

namespace {

struct Toy final : Step {
  Check same{*this, "same", bits(), "the table's rows"};
  Check near{*this, "near", close(), "the float reference", Level::inform};
  Check count{*this, "count", equal(), "as many as in the prompt"};
  void run(StepContext&) override {}
};

Tensor floats(const std::vector<float>& values) {
  return Tensor::copy_of(std::span(values), {static_cast<std::int64_t>(values.size())});
}

CheckSettings settings(Level level, NonFinite non_finite = NonFinite::fail) {
  CheckSettings result;
  result.level = level;
  result.non_finite = non_finite;
  result.bound_source = "p.toml:3:1";
  return result;
}

template <class E, class A>
concept comparable = requires(Check& check, E e, A a) {
  check.compare(e, a);
};
template <class E, class A>
concept equatable = requires(Check& check, E e, A a) {
  check.equal(e, a);
};

}  // namespace

TEST_CASE("swapping Expected and Actual does not compile") {
  STATIC_REQUIRE(comparable<Expected<Tensor>, Actual<Tensor>>);
  STATIC_REQUIRE_FALSE(comparable<Actual<Tensor>, Expected<Tensor>>);
  STATIC_REQUIRE_FALSE(comparable<Expected<Tensor>, Expected<Tensor>>);
  STATIC_REQUIRE_FALSE(comparable<Tensor, Tensor>);
  STATIC_REQUIRE(equatable<Expected<int>, Actual<int>>);
  STATIC_REQUIRE_FALSE(equatable<Actual<int>, Expected<int>>);
}

TEST_CASE("a check declares itself to its step with name, criterion, level and doc") {
  const Toy toy;
  const auto& checks = toy.declarations().checks;
  REQUIRE(checks.size() == 3);
  CHECK(checks[1]->info().name == "near");
  CHECK(checks[1]->info().criterion.metric == Metric::close);
  CHECK(checks[1]->info().level == Level::inform);
  CHECK(checks[1]->info().doc == "the float reference");
  CHECK(checks[1]->settings().level == Level::inform);
}

TEST_CASE("each performed comparison is one entry with the check's name, level, source and doc") {
  Toy toy;
  toy.same.configure(settings(Level::require));
  CHECK(toy.same.compare(Expected{floats({1, 2})}, Actual{floats({1, 2})}));
  CHECK_FALSE(toy.same.at("layer", 3).compare(Expected{floats({1, 2})}, Actual{floats({1, 3})}));
  CHECK_FALSE(toy.same.at("vision tower").expect(false, "the image ends at 300, max_seq is 256"));
  REQUIRE(toy.same.results().size() == 3);

  const CheckResult& first = toy.same.results()[0];
  CHECK(first.name == "same");
  CHECK_FALSE(first.subject.has_value());
  CHECK(first.verdict == Verdict::pass);
  CHECK(first.bound_source == "p.toml:3:1");
  CHECK(first.expected == "the table's rows");
  CHECK_FALSE(first.message.has_value());

  const CheckResult& second = toy.same.results()[1];
  CHECK(second.subject == "layer 3");
  CHECK(second.verdict == Verdict::fail);
  CHECK(second.mismatched == 1);
  CHECK(second.message == "1 of 2 differ");
  REQUIRE(second.worst.has_value());
  CHECK(second.worst->index == std::vector<std::int64_t>{1});
  CHECK(second.worst->expected == Value(2.0));
  CHECK(second.worst->actual == Value(3.0));

  const CheckResult& third = toy.same.results()[2];
  CHECK(third.subject == "vision tower");
  CHECK(third.metric == Metric::expect);
  CHECK(third.message == "the image ends at 300, max_seq is 256");
}

TEST_CASE("over its bound a check fails at level require, warns at inform and leaves no entry at off") {
  for (const auto& [level, verdict] : {std::pair{Level::require, Verdict::fail}, {Level::inform, Verdict::warn}}) {
    Toy toy;
    toy.same.configure(settings(level));
    CHECK_FALSE(toy.same.compare(Expected{floats({1})}, Actual{floats({2})}));
    REQUIRE(toy.same.results().size() == 1);
    CHECK(toy.same.results()[0].verdict == verdict);
    CHECK(toy.same.results()[0].level == level);
  }
  Toy toy;
  toy.same.configure(settings(Level::off));
  CHECK(toy.same.compare(Expected{floats({1})}, Actual{floats({2})}));
  CHECK(toy.same.equal(Expected{1}, Actual{2}));
  CHECK(toy.same.expect(false, "no"));
  toy.same.close_if_never_performed();
  CHECK(toy.same.results().empty());
}

TEST_CASE("a check that was declared and never performed is vacuous, at its level and with its on_vacuous") {
  Toy toy;
  toy.near.configure({.bound = {.rtol = 0.1, .atol = 0.2},
                      .level = Level::require,
                      .on_vacuous = OnVacuous::allow,
                      .non_finite = NonFinite::fail,
                      .bound_source = "p.toml:9:2"});
  toy.near.close_if_never_performed();
  REQUIRE(toy.near.results().size() == 1);
  const CheckResult& result = toy.near.results()[0];
  CHECK(result.verdict == Verdict::vacuous);
  CHECK(result.metric == Metric::close);
  CHECK(result.bound == Bound{.rtol = 0.1, .atol = 0.2});
  CHECK(result.on_vacuous == OnVacuous::allow);
  CHECK(result.compared == 0);
  CHECK(result.message.has_value());

  toy.same.compare(Expected{floats({1})}, Actual{floats({1})});
  toy.same.close_if_never_performed();
  CHECK(toy.same.results().size() == 1);
}

TEST_CASE("the pipeline's bound and non_finite replace the step's own") {
  Toy toy;
  toy.near.configure({.bound = {.rtol = 0, .atol = 0.5}, .bound_source = "p.toml:1:1"});
  CHECK(toy.near.compare(Expected{floats({1})}, Actual{floats({1.5F})}));
  CHECK(toy.near.results()[0].bound == Bound{.rtol = 0, .atol = 0.5});
  const float inf = std::numeric_limits<float>::infinity();
  CHECK_FALSE(toy.near.compare(Expected{floats({inf})}, Actual{floats({inf})}));
  toy.near.configure(settings(Level::require, NonFinite::match));
  CHECK(toy.near.compare(Expected{floats({inf})}, Actual{floats({inf})}));
}

TEST_CASE("scalars, text and lists are compared exactly") {
  Toy toy;
  CHECK(toy.count.equal(Expected{64}, Actual{std::size_t{64}}));
  CHECK(toy.count.equal(Expected{"<eos>"}, Actual{std::string("<eos>")}));
  CHECK(toy.count.equal(Expected{true}, Actual{true}));
  CHECK(toy.count.equal(Expected{std::vector{1, 2, 3}}, Actual{std::array<std::int64_t, 3>{1, 2, 3}}));
  CHECK(toy.count.equal(Expected{std::vector<bool>{true, false}}, Actual{std::vector<bool>{true, false}}));
  CHECK(toy.count.results()[3].compared == 3);

  CHECK_FALSE(toy.count.equal(Expected{64}, Actual{63}));
  CHECK(toy.count.results().back().message == "expected 64, found 63");
  CHECK(toy.count.results().back().worst->expected == Value(64));
  CHECK_FALSE(toy.count.equal(Expected{64}, Actual{64.0}));
  CHECK_FALSE(toy.count.equal(Expected{std::vector{1, 2, 3}}, Actual{std::vector{1, 9, 8}}));
  CHECK(toy.count.results().back().message == "2 of 3 differ");
  CHECK(toy.count.results().back().worst->index == std::vector<std::int64_t>{1});
  CHECK_FALSE(toy.count.equal(Expected{std::vector{1, 2}}, Actual{std::vector{1, 2, 3}}));
  CHECK(toy.count.results().back().message == "expected 2 elements, found 3");
  CHECK(toy.count.results().back().mismatched == 1);
  CHECK_FALSE(toy.count.equal(Expected{std::nan("")}, Actual{std::nan("")}));
}

TEST_CASE("two empty lists are vacuous") {
  Toy toy;
  CHECK(toy.count.equal(Expected{std::vector<int>{}}, Actual{std::vector<int>{}}));
  CHECK(toy.count.results()[0].verdict == Verdict::vacuous);
}

TEST_CASE("a subject may have a criterion of its own, which says where it was written") {
  Toy toy;
  toy.same.configure(settings(Level::require));
  const Tensor one = floats({1.0F, 2.0F});
  const Tensor near = floats({1.0F, 2.0625F});
  CHECK_FALSE(toy.same.at("by the check's").compare(Expected{one}, Actual{near}));
  CHECK(toy.same.at("by its own").compare(Expected{one}, Actual{near}, max_abs(0.1), "p.toml:9:5"));
  CHECK_FALSE(toy.same.at("over its own").compare(Expected{one}, Actual{near}, max_abs(0.01), "p.toml:9:5"));
  const auto& results = toy.same.results();
  REQUIRE(results.size() == 3);
  CHECK(results[0].metric == Metric::bits);
  CHECK(results[0].bound_source == "p.toml:3:1");
  CHECK(results[1].metric == Metric::max_abs);
  CHECK(results[1].bound == Bound{.max = 0.1});
  CHECK(results[1].value == 0.0625);
  CHECK(results[1].bound_source == "p.toml:9:5");
  CHECK(results[2].verdict == Verdict::fail);
}
