#include "check/compare.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <lockstep/diagnostic.hpp>

#include "catch.hpp"
#include "check/generator.hpp"
#include "check/parallel.hpp"

using namespace lockstep;

namespace {

Tensor floats(const std::vector<float>& values, std::vector<std::int64_t> sizes) {
  return Tensor::copy_of(std::span(values), std::move(sizes));
}
Tensor floats(const std::vector<float>& values) { return floats(values, {static_cast<std::int64_t>(values.size())}); }

std::vector<Criterion> every_criterion() {
  return {bits(),         close(),         close(0.1, 0.1), ulp(1e300),       peir(1e300), max_abs(1e300),
          max_rel(1e300), mean_abs(1e300), rmse(1e300),     sqnr(-1e300),     cosine(-2),  pcc(-2),
          kl(1e300),      top1(0),         topk(1, 0),      norm_wise(1e300), equal()};
}

/// Everything in a result that could depend on the order of work, as bytes.
std::string fingerprint(const CheckResult& r) {
  std::string out;
  const auto add = [&](const auto& x) { out.append(reinterpret_cast<const char*>(&x), sizeof x); };
  add(r.value.value_or(-1));
  add(r.compared);
  add(r.mismatched);
  out += r.ladder.value_or("") + r.message.value_or("") + std::string(name_of(*r.verdict));
  for (const auto& [name, value] : r.statistics) {
    out += name;
    add(value);
  }
  if (r.worst) {
    for (const auto i : r.worst->index) add(i);
    out += to_text(r.worst->expected) + to_text(r.worst->actual);
  }
  return out;
}

struct Threads {
  explicit Threads(int n) { set_check_threads(n); }
  ~Threads() { set_check_threads(0); }
};

}  // namespace

TEST_CASE("no result depends on the number of threads, to the last bit") {
  for (const DType dtype : {DType::bfloat16, DType::float16, DType::float32, DType::float64, DType::int32,
                            DType::float8_e4m3fn, DType::boolean}) {
    const std::vector<std::int64_t> sizes{7, 10001};
    const Tensor e = generator::tensor(dtype, sizes, 11, 3, generator::Side::expected);
    const Tensor a = generator::tensor(dtype, sizes, 11, 3, generator::Side::actual);
    for (const Criterion& criterion : every_criterion()) {
      INFO(name_of(dtype) << " " << name_of(criterion.metric));
      std::string one;
      for (const int threads : {1, 2, 3, 7}) {
        const Threads limit(threads);
        const std::string found = fingerprint(compare(e, a, criterion));
        if (threads == 1) one = found;
        CHECK(found == one);
      }
    }
  }
}

TEST_CASE("nothing compared is vacuous for every metric: no elements, or the very same memory") {
  const Tensor empty = floats({}, {3, 0});
  const Tensor other = floats({}, {3, 0});
  const Tensor x = floats({1, 2, 3, 4}, {2, 2});
  const Tensor same{nullptr, x.data(), DType::float32, {2, 2}};
  const Tensor transposed{nullptr, x.data(), DType::float32, {2, 2}, {1, 2}};
  const Tensor second{nullptr, x.data() + 4, DType::float32, {3}};
  const Tensor first{nullptr, x.data(), DType::float32, {3}};
  for (const Criterion& criterion : every_criterion()) {
    INFO(name_of(criterion.metric));
    for (const auto& [e, a] : {std::pair{empty, other}, {x, same}}) {
      const CheckResult result = compare(e, a, criterion);
      CHECK(result.verdict == Verdict::vacuous);
      CHECK(result.compared == 0);
      CHECK_FALSE(result.value.has_value());
      CHECK(result.message->substr(0, 20) == "nothing was compared");
    }
    CHECK(compare(x, transposed, criterion).compared == 4);  // the same storage, other elements
    CHECK(compare(first, second, criterion).compared == 3);
  }
}

TEST_CASE(
    "shapes never broadcast and dtypes never convert: not comparable fails, even where nothing would be compared") {
  const Tensor x = floats({1, 2, 3});
  for (const Tensor& other : {floats({1, 2, 3}, {1, 3}), floats({1}), floats({}), floats({1}, {})}) {
    const CheckResult result = compare(x, other, close());
    CHECK(result.verdict == Verdict::fail);
    CHECK(result.ladder == "not_comparable");
  }
  CHECK(compare(x, floats({1}), bits()).message == "shapes differ: expected [3], found [1]");
  const std::vector<double> wide{1, 2, 3};
  CHECK(compare(x, Tensor::copy_of(std::span(wide), {3}), close()).message ==
        "dtypes differ: expected float32, found float64");
  CHECK(compare(x, Tensor::copy_of(std::span(wide), {3, 1}), close()).message ==
        "shapes and dtypes differ: expected float32 [3], found float64 [3, 1]");
}

TEST_CASE("negative and zero strides read the elements that they name") {
  const std::vector<float> line{0, 1, 2, 3, 4, 5};
  const Tensor forward = floats(line);
  const Tensor backward{forward.owner(), forward.data() + 5 * sizeof(float), DType::float32, {6}, {-1}};
  CHECK(compare(floats({5, 4, 3, 2, 1, 0}), backward, bits()).verdict == Verdict::pass);
  const Tensor repeated{forward.owner(), forward.data() + sizeof(float), DType::float32, {2, 3}, {0, 2}};
  CHECK(compare(floats({1, 3, 5, 1, 3, 5}, {2, 3}), repeated, bits()).verdict == Verdict::pass);
  const CheckResult result = compare(floats({1, 3, 5, 1, 7, 5}, {2, 3}), repeated, bits());
  CHECK(result.mismatched == 1);
  CHECK(result.worst->index == std::vector<std::int64_t>{1, 1});
}

TEST_CASE("an undefined metric falls back to the criterion's max-abs bound, and is vacuous without one") {
  const Tensor constant = floats({2, 2, 2});
  const Tensor near_by = floats({2, 2.5F, 2});
  CHECK(compare(constant, near_by, peir(0.1)).verdict == Verdict::vacuous);
  CHECK(compare(constant, near_by, peir(0.1)).message == "peir is undefined: the expected side is constant");
  const Criterion loose{Metric::peir, {.atol = 0.5, .max = 0.1}};
  const CheckResult passed = compare(constant, near_by, loose);
  CHECK(passed.verdict == Verdict::pass);
  CHECK_FALSE(passed.value.has_value());
  CHECK(passed.message == "peir is undefined: the expected side is constant; max_abs 0.5 is within atol 0.5");
  CHECK(compare(constant, near_by, {Metric::pcc, {.atol = 0.4, .min = 0.9}}).verdict == Verdict::fail);
  CHECK(compare(floats({1}), floats({2}), pcc(0.5)).verdict == Verdict::vacuous);
  CHECK(compare(floats({1, 2}), floats({1, 2.5F}), topk(2)).verdict == Verdict::vacuous);
}

TEST_CASE("close is the largest difference over what is allowed, and passes exactly at 1") {
  const CheckResult at = compare(floats({4, 8}), floats({4.5F, 8}), close(0, 0.5));
  CHECK(at.value == 1.0);
  CHECK(at.verdict == Verdict::pass);
  const CheckResult over = compare(floats({4, 8}), floats({4.75F, 8}), close(0, 0.5));
  CHECK(over.value == 1.5);
  CHECK(over.verdict == Verdict::fail);
  CHECK(compare(floats({4, 8}), floats({4, 8}), close(0, 0)).value == 0.0);
  CHECK(compare(floats({4, 8}), floats({4, 9}), close(0, 0)).value == std::numeric_limits<double>::infinity());
  CHECK(compare(floats({4, 8}), floats({4, 8}), close()).bound == Bound{.rtol = 1.3e-6, .atol = 1e-5});
  // Neighbouring doubles whose quotient rounds to 1: still over the bound.
  const double limit = std::nextafter(2.0, 0.0);
  const std::vector<double> zero{0.0};
  const std::vector<double> two{2.0};
  const auto one_over =
      compare(Tensor::copy_of(std::span(zero), {1}), Tensor::copy_of(std::span(two), {1}), close(0, limit));
  CHECK(one_over.verdict == Verdict::fail);
  CHECK(*one_over.value > 1);
}

TEST_CASE("norm-wise takes its default of the dtype, and has none where there is no origin for one") {
  CHECK(compare(floats({100, 0}), floats({100, 9e-4F}), norm_wise()).verdict == Verdict::pass);
  CHECK(compare(floats({100, 0}), floats({100, 1.1e-3F}), norm_wise()).verdict == Verdict::fail);
  CHECK(compare(floats({100, 0}), floats({100, 1e-3F}), norm_wise()).bound.k == 1e-5);
  const std::vector<double> wide{1, 2};
  const std::vector<double> other{1, 2.5};
  const auto result =
      compare(Tensor::copy_of(std::span(wide), {2}), Tensor::copy_of(std::span(other), {2}), norm_wise());
  CHECK(result.verdict == Verdict::vacuous);
  CHECK(result.message == "norm_wise has no default bound for float64, give k");
}

TEST_CASE("mask fills leave the norm and the range alone, and a broken mask still fails") {
  const float lowest = std::numeric_limits<float>::lowest();
  const Tensor mask = floats({lowest, 1, 2, lowest});
  const Tensor off = floats({lowest, 1, 2.1F, lowest});
  CHECK(compare(mask, off, norm_wise(0.01)).verdict == Verdict::fail);
  CHECK(compare(mask, off, peir(0.05)).verdict == Verdict::fail);
  CHECK(compare(mask, off, norm_wise(0.06)).verdict == Verdict::pass);
  CHECK(compare(mask, off, norm_wise(0.06)).compared == 2);
  const CheckResult hole = compare(mask, floats({lowest, 1, 2, 0}), norm_wise(0.06));
  CHECK(hole.verdict == Verdict::fail);
  CHECK(hole.worst->index == std::vector<std::int64_t>{3});
  CHECK(compare(floats({lowest, lowest}), floats({lowest, lowest}), norm_wise()).verdict == Verdict::vacuous);
}

TEST_CASE("messages name what differs, numbers are in the fields") {
  const Tensor e = generator::tensor(DType::bfloat16, {4096}, 5, 1, generator::Side::expected);
  const Tensor a = generator::tensor(DType::bfloat16, {4096}, 5, 1, generator::Side::actual);
  const CheckResult result = compare(e, a, bits());
  CHECK(result.mismatched == 4096);  // the generator changes every element at 1
  CHECK(result.message == "4,096 of 4,096 differ");
  CHECK(compare(floats({0.0F, 1}), floats({-0.0F, 1}), bits()).message == "1 of 2 differ, in the sign of zero only");
  CHECK(compare(floats({0, 2}), floats({0, 1}), max_abs(0.5)).message == "max_abs is 1, at most 0.5 is allowed");
  CHECK(compare(floats({0, 2}), floats({0, 1}), max_abs(0.99999)).message ==
        "max_abs is 1, at most 0.99999 is allowed");
  CHECK(compare(floats({0, 2}), floats({1, 0}), cosine(0.5)).message == "cosine is 0, at least 0.5 is required");
  CHECK(compare(floats({0, 2, 2, 0}, {2, 2}), floats({0, 2, 0, 2}, {2, 2}), top1()).message == "1 of 2 rows disagree");
  const float nan = std::nanf("");
  CHECK(compare(floats({0, 2}), floats({nan, 1}), close()).message ==
        "1 of 2 are NaN or infinite (0 expected, 1 actual)");
}

TEST_CASE("the worst of top-k is the first row that disagrees, with the columns of each side") {
  const CheckResult result = compare(floats({3, 2, 1, 3, 2, 1}, {2, 3}), floats({3, 2, 1, 3, 1, 2}, {2, 3}), topk(2));
  CHECK(result.verdict == Verdict::fail);
  CHECK(result.value == 0.5);
  CHECK(result.worst->index == std::vector<std::int64_t>{1});
  CHECK(result.worst->expected == Value(Value::Array{std::int64_t{0}, std::int64_t{1}}));
  CHECK(result.worst->actual == Value(Value::Array{std::int64_t{0}, std::int64_t{2}}));
}

TEST_CASE("a criterion that cannot be used is an error that says why") {
  const Tensor x = floats({1});
  const Tensor y = floats({1});
  CHECK(problem_of({Metric::close, {.rtol = 0.1}}) == "close takes rtol and atol together, or neither");
  CHECK(problem_of({Metric::peir, {}}) == "peir needs max");
  CHECK(problem_of({Metric::sqnr, {}}) == "sqnr needs min");
  CHECK(problem_of({Metric::topk, {.min = 1, .k = 1.5}}) == "k is 1.5, expected a whole number of at least 1");
  CHECK(problem_of(max_abs(-1)) == "max is -1, expected a number of at least 0");
  CHECK(problem_of(close(std::nan(""), 0)).has_value());
  CHECK_FALSE(problem_of(bits()).has_value());
  CHECK_THROWS_AS(compare(x, y, close(-1, 0)), Error);
}

TEST_CASE("every metric and verdict has the name that records use, and names its bound's keys") {
  const std::vector<std::string> names{"close",    "bits", "ulp",       "peir",   "max_abs", "max_rel",
                                       "mean_abs", "rmse", "sqnr",      "cosine", "pcc",     "kl",
                                       "top1",     "topk", "norm_wise", "equal",  "expect"};
  for (std::size_t i = 0; i < names.size(); ++i) CHECK(name_of(static_cast<Metric>(i)) == names[i]);
  CHECK(keys_of(Metric::close) == std::vector<std::string_view>{"rtol", "atol"});
  CHECK(keys_of(Metric::topk) == std::vector<std::string_view>{"k", "min"});
  CHECK(keys_of(Metric::bits).empty());
}
