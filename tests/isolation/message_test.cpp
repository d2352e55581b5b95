// The two messages between a run and the process of an isolated step.

#include <cmath>
#include <cstdint>
#include <limits>

#include "catch.hpp"
#include "engine/worker_message.hpp"
#include "lockstep/diagnostic.hpp"

using namespace lockstep;

TEST_CASE("a request comes back as it was, numbers and texts of every kind included") {
  constexpr auto infinity = std::numeric_limits<double>::infinity();
  WorkerRequest request;
  request.seed = std::numeric_limits<std::uint64_t>::max();
  request.threads = 3;
  request.automatic_threads = true;
  request.threads_set_by = "runtime";
  request.libtorch_used = true;
  request.dump = true;
  WorkerStep step;
  step.id = "x";
  step.parameters = {{"none", Value{}},
                     {"yes", true},
                     {"low", std::numeric_limits<std::int64_t>::min()},
                     {"zero", -0.0},
                     {"two", 2.0},
                     {"large", infinity},
                     {"bytes", std::string("\xff\0\n", 3)},
                     {"list", Value::Array{1, 2.5, std::string("x")}},
                     {"table", Value::Table{{"b", 1}, {"a", Value::Array{}}}}};
  step.checks = {{.bound = {.rtol = 0.1},
                  .level = Level::off,
                  .on_vacuous = OnVacuous::allow,
                  .non_finite = NonFinite::match,
                  .bound_source = "p.toml:1:2"}};
  step.wires = {{.input = "a", .given = 7, .step = 0, .output = "o"},
                {.input = "b", .given = {}, .step = 2, .output = "p"}};
  request.steps = {step};
  request.given = {{{"t", {.offset = 1ULL << 40, .dtype = DType::bfloat16, .sizes = {2, 0}, .strides = {-1, 3}}}}, {}};

  const auto back = request_from(to_bytes(request));
  CHECK(back.seed == request.seed);
  CHECK(back.threads == request.threads);
  CHECK(back.automatic_threads);
  CHECK(back.threads_set_by == "runtime");
  CHECK(back.libtorch_used);
  CHECK(back.dump);
  REQUIRE(back.steps.size() == 1);
  CHECK(back.steps[0].parameters == step.parameters);
  CHECK(std::signbit(std::get<double>(back.steps[0].parameters[3].second.data)));
  const auto& settings = back.steps[0].checks.at(0);
  CHECK(settings.bound == step.checks[0].bound);
  CHECK(settings.level == Level::off);
  CHECK(settings.on_vacuous == OnVacuous::allow);
  CHECK(settings.non_finite == NonFinite::match);
  CHECK(settings.bound_source == "p.toml:1:2");
  CHECK(back.steps[0].wires[0].given == 7);
  CHECK_FALSE(back.steps[0].wires[1].given.has_value());
  CHECK(back.steps[0].wires[1].step == 2);
  REQUIRE(back.given.size() == 2);
  const auto& place = back.given[0].at(0).second;
  CHECK(place.offset == 1ULL << 40);
  CHECK(place.dtype == DType::bfloat16);
  CHECK(place.sizes == std::vector<std::int64_t>{2, 0});
  CHECK(place.strides == std::vector<std::int64_t>{-1, 3});
}

TEST_CASE("a check's entry comes back as it was, not-a-number and absent fields included") {
  CheckResult check{.name = "close", .subject = "layer 3", .metric = Metric::topk, .level = Level::inform};
  check.verdict = Verdict::vacuous;
  check.value = std::nan("");
  check.statistics = {{"z", 1.0}, {"a", -std::numeric_limits<double>::infinity()}};
  check.worst = CheckResult::Worst{{1, 2}, std::nan(""), std::string("nan")};
  WorkerAnswer answer;
  answer.checks.resize(2);
  answer.checks[0].settings.level = Level::off;
  answer.checks[0].results = {check, CheckResult{}};
  answer.skip = "";
  answer.failure = WorkerAnswer::Failure{"S001", "why", "what to do"};
  const auto back = answer_from(to_bytes(answer));
  REQUIRE(back.checks.size() == 2);
  CHECK(back.checks[0].settings.level == Level::off);
  const auto& entry = back.checks[0].results.at(0);
  CHECK(entry.subject == "layer 3");
  CHECK(entry.metric == Metric::topk);
  CHECK(entry.level == Level::inform);
  CHECK(entry.verdict == Verdict::vacuous);
  CHECK(std::isnan(entry.value.value()));
  CHECK(entry.statistics == check.statistics);
  CHECK(std::isnan(std::get<double>(entry.worst.value().expected.data)));
  CHECK(entry.worst->actual == Value("nan"));
  CHECK_FALSE(back.checks[0].results.at(1).subject.has_value());
  CHECK_FALSE(back.checks[0].results.at(1).verdict.has_value());
  CHECK(back.skip == "");
  CHECK_FALSE(back.summary.has_value());
  CHECK(back.failure.value().help == "what to do");
}

TEST_CASE("what is not a whole message is refused") {
  const auto bytes = to_bytes(WorkerAnswer{});
  CHECK_THROWS_AS(answer_from(bytes.substr(0, bytes.size() - 1)), Error);
  CHECK_THROWS_AS(answer_from("x"), Error);
  CHECK_THROWS_AS(request_from(bytes), Error);
}
