#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/testing.hpp>

#include "catch.hpp"
#include "tensors.hpp"

using namespace lockstep;
using namespace lockstep::test;
using Texts = std::vector<std::string>;

namespace {

StepBench comparison(const std::shared_ptr<const NamedTensors>& expected,
                     const std::shared_ptr<const NamedTensors>& actual) {
  StepBench bench("common.compare_tensors");
  bench.bind("expected", expected).bind("actual", actual);
  return bench;
}

Value list(const Texts& texts) {
  Value::Array result;
  for (const auto& text : texts) result.emplace_back(text);
  return result;
}

const auto right = set_of({{"hidden", floats({1, 2})}, {"logits", floats({3, 4, 5})}});

}  // namespace

TEST_CASE("tensors of one name are compared, each with an entry of its own") {
  auto bench = comparison(right, set_of({{"logits", floats({3, 4, 5.5F})}, {"hidden", floats({1, 2})}}));
  bench.run();
  CHECK(bench.error() == std::nullopt);
  CHECK(bench.verdict("same_names") == Verdict::pass);
  CHECK(bench.result("matches", "hidden").verdict == Verdict::pass);
  const auto& logits = bench.result("matches", "logits");
  CHECK(logits.verdict == Verdict::fail);
  CHECK(logits.metric == Metric::close);
  CHECK(logits.mismatched == 1);
  CHECK(logits.worst->index == std::vector<std::int64_t>{2});
  CHECK(bench.summary() == "2 tensors compared");
}

TEST_CASE("the first bound that fits a name counts, and without one the check's own") {
  const auto actual = set_of({{"hidden", floats({1, 2.0625F})}, {"logits", floats({3, 4.5F, 5})}});
  auto bench = comparison(right, actual);
  bench.set("bounds", list({"hid*: max_abs max=0.1", "*d*: bits"})).run();
  const auto& hidden = bench.result("matches", "hidden");
  CHECK(hidden.verdict == Verdict::pass);
  CHECK(hidden.metric == Metric::max_abs);
  CHECK(hidden.bound.max == 0.1);
  CHECK(hidden.value == 0.0625);
  CHECK(bench.result("matches", "logits").metric == Metric::close);
  auto other = comparison(right, actual);
  other.set("bounds", list({"*d*: bits", "hid*: max_abs max=0.1", "*: norm_wise k=0.1"})).run();
  CHECK(other.result("matches", "hidden").metric == Metric::bits);
  CHECK(other.result("matches", "hidden").verdict == Verdict::fail);
  // |4.5 - 4| / max|e| = 0.5 / 5
  CHECK(other.result("matches", "logits").metric == Metric::norm_wise);
  CHECK(other.result("matches", "logits").verdict == Verdict::pass);
}

TEST_CASE("a bound that fits no tensor is an error: what it was meant for would be held to another") {
  auto bench = comparison(right, right);
  bench.set("bounds", list({"logitz: bits", "*: close"})).run();
  CHECK(bench.error() == "bounds: \"logitz: bits\" fits no tensor of the expected side");
}

TEST_CASE("names that one side lacks fail, are listed and recorded, and may be allowed") {
  const auto actual = set_of({{"hidden", floats({1, 2})}, {"extra", floats({0})}});
  auto bench = comparison(right, actual);
  bench.run();
  CHECK(bench.verdict("same_names") == Verdict::fail);
  CHECK(bench.result("same_names").message == "1 missing: logits; 1 unexpected: extra");
  CHECK(bench.result("matches", "hidden").verdict == Verdict::pass);
  const std::vector<std::pair<std::string, Value>> fields{{"missing", list({"logits"})},
                                                          {"unexpected", list({"extra"})}};
  CHECK(bench.recorded() == fields);
  auto allowed = comparison(right, actual);
  allowed.set("allow_missing", true).set("allow_unexpected", true).run();
  CHECK(allowed.verdict("same_names") == Verdict::pass);
  CHECK(allowed.recorded() == fields);
  auto one = comparison(right, actual);
  one.set("allow_missing", true).run();
  CHECK(one.result("same_names").message == "1 unexpected: extra");
}

TEST_CASE("of many missing names the message has five and the record all") {
  NamedTensors many;
  for (int i = 0; i < 8; ++i) many.add("t" + std::to_string(i), floats({1}));
  auto bench = comparison(std::make_shared<const NamedTensors>(many), set_of({{"t0", floats({1})}}));
  bench.run();
  CHECK(bench.result("same_names").message == "7 missing: t1, t2, t3, t4, t5 and 2 more");
  CHECK(std::get<Value::Array>(bench.recorded().at(0).second.data).size() == 7);
}

TEST_CASE("renamed tensors are compared under both names") {
  auto bench = comparison(set_of({{"enc.0.w", floats({1})}, {"enc.1.w", floats({2})}}),
                          set_of({{"encoder.1.weight", floats({2})}, {"encoder.0.weight", floats({1.5F})}}));
  bench.set("rename", list({"enc.*.w=encoder.*.weight"})).set("bounds", list({"enc.1*: bits"})).run();
  CHECK(bench.verdict("same_names") == Verdict::pass);
  CHECK(bench.result("matches", "enc.1.w -> encoder.1.weight").verdict == Verdict::pass);
  CHECK(bench.result("matches", "enc.1.w -> encoder.1.weight").metric == Metric::bits);
  CHECK(bench.result("matches", "enc.0.w -> encoder.0.weight").verdict == Verdict::fail);
}

TEST_CASE("two names that become one are an error") {
  auto bench = comparison(set_of({{"a", floats({1})}, {"b", floats({1})}}), set_of({{"b", floats({1})}}));
  bench.set("rename", list({"a=b"})).run();
  CHECK(bench.error() == "'a' and 'b' would both be compared with 'b'");
}

TEST_CASE("another shape or dtype fails") {
  const std::vector<double> doubles{1, 2};
  const std::vector<Tensor> wrong{floats({1, 2, 3}), Tensor::copy_of(std::span<const double>(doubles), {2}),
                                  Tensor::copy_of(std::span<const double>(doubles), {1, 2})};
  for (const auto& tensor : wrong) {
    auto bench = comparison(set_of({{"x", floats({1, 2})}}), set_of({{"x", tensor}}));
    bench.set("bounds", list({"*: norm_wise k=1"})).run();
    CHECK(bench.result("matches", "x").verdict == Verdict::fail);
    CHECK(bench.result("matches", "x").ladder == "not_comparable");
  }
}

TEST_CASE("where nothing is compared the check is vacuous: no name, no element, all left out, the same memory") {
  const auto verdict = [](StepBench bench) { return bench.run().verdict("matches"); };
  CHECK(verdict(comparison(set_of({}), set_of({}))) == Verdict::vacuous);
  CHECK(verdict(comparison(set_of({{"x", floats({})}}), set_of({{"x", floats({})}}))) == Verdict::vacuous);
  auto excluded = comparison(right, right);
  excluded.set("exclude", list({"*"})).run();
  CHECK(excluded.verdict("matches") == Verdict::vacuous);
  CHECK(comparison(right, right).run().result("matches", "hidden").verdict == Verdict::vacuous);
}

TEST_CASE("every mistake in a rule is found before the run, with the rule and its place in the list") {
  StepBench bench("common.compare_tensors");
  bench.set("bounds", list({"a: bits", "no colon", ": bits", "a:", "a: bitz", "a: close rtol=1", "a: close 5",
                            "a: ulp max=4 max=5", "a: ulp max=x", "a: ulp min=4", "a: ulp", "a: cosine min=2",
                            "a: ulp max=nan", "b:c: ulp max=4"}));
  bench.set("rename", list({"a=b", "a=c", "a*=b"}));
  const std::string form = "expected 'PATTERN: METRIC KEY=NUMBER …'";
  const Texts expected{
      "with.bounds: P020: step 'bench': bounds[1] \"no colon\": " + form,
      "with.bounds: P020: step 'bench': bounds[2] \": bits\": " + form,
      "with.bounds: P020: step 'bench': bounds[3] \"a:\": a metric is missing after the ':'",
      "with.bounds: P020: step 'bench': bounds[4] \"a: bitz\": 'bitz' is no metric",
      "with.bounds: P020: step 'bench': bounds[5] \"a: close rtol=1\": close takes rtol and atol together, or neither",
      "with.bounds: P020: step 'bench': bounds[6] \"a: close 5\": '5' is no bound, expected KEY=NUMBER",
      "with.bounds: P020: step 'bench': bounds[7] \"a: ulp max=4 max=5\": 'max' is given twice",
      "with.bounds: P020: step 'bench': bounds[8] \"a: ulp max=x\": bound 'max' is 'x', expected a number",
      "with.bounds: P020: step 'bench': bounds[9] \"a: ulp min=4\": metric ulp has no bound 'min'",
      "with.bounds: P020: step 'bench': bounds[10] \"a: ulp\": ulp needs max",
      "with.bounds: P020: step 'bench': bounds[11] \"a: cosine min=2\": bound 'min' of cosine is 2, expected at most 1",
      "with.bounds: P020: step 'bench': bounds[12] \"a: ulp max=nan\": bound 'max' of ulp is NaN, expected a number",
      "with.rename: P020: step 'bench': rename[1] \"a=c\": 'a' is renamed a second time",
      "with.rename: P020: step 'bench': rename[2] \"a*=b\": 'a*' has a '*', 'b' has none"};
  CHECK(bench.problems() == expected);
}
