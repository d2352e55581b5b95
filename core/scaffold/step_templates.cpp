#include "scaffold/templates.hpp"

namespace lockstep::scaffold {

const std::string_view step_source = R"template(#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <lockstep/step.hpp>

namespace {
using namespace lockstep;

constexpr double right_epsilon = 1e-6;

/// An example to replace: verifies an RMS norm in float32, as a device would compute it, against one in float64.
struct @TYPE@ final : Step {
  Param<std::int64_t> size{*this, "size", "number of elements", {.default_value = 64, .min = 1, .max = 4096}};
  Param<double> epsilon{
      *this, "epsilon", "what the device adds below the root", {.default_value = right_epsilon, .min = 0.0}};
  Out<Tensor> normed{*this, "normed", "[size] float32"};
  Check matches{*this, "matches", close(), "RMS norm in float64, rounded once"};

  void run(StepContext& context) override {
    const auto device = rms_norm<float>(*epsilon);
    matches.compare(Expected{rms_norm<double>(right_epsilon)}, Actual{device});
    normed = device;
    context.summary(std::to_string(*size) + " elements");
  }

  /// x / sqrt(mean(x^2) + epsilon) of x = cos(0), cos(1), …; computed in T.
  template <class T>
  [[nodiscard]] Tensor rms_norm(double added) const {
    std::vector<T> x(static_cast<std::size_t>(*size));
    T squares = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = std::cos(static_cast<T>(i));
      squares += x[i] * x[i];
    }
    const T scale = 1 / std::sqrt(squares / static_cast<T>(*size) + static_cast<T>(added));
    std::vector<float> result;
    for (const T value : x) result.push_back(static_cast<float>(value * scale));
    return Tensor::copy_of(std::span<const float>(result), {*size});
  }
};
}  // namespace

LOCKSTEP_STEP("@STEP@", @TYPE@, "verifies an RMS norm in float32")
)template";

const std::string_view step_test =
    R"template(// The step on the bench, without a pipeline. No test framework is needed; with one, each `check` is an assertion.

#include <cmath>
#include <cstdio>
#include <exception>

#include <lockstep/testing.hpp>

namespace {
using namespace lockstep;

int failures = 0;

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "FAILED: %s\n", what);
  ++failures;
}

void the_right_norm_passes() {
  StepBench bench(LOCKSTEP_STEP_FILE);
  bench.set("size", 1000).run();
  check(bench.verdict("matches") == Verdict::pass, "the right norm passes");
  check(bench.summary() == "1000 elements", "the summary counts the elements");
  // The mean of the squares of an RMS norm is 1.
  double squares = 0;
  for (const float value : bench.output<Tensor>("normed")->values<float>()) squares += double{value} * value;
  check(std::abs(squares / 1000 - 1) < 1e-5, "what is published has mean square 1");
}

void a_wrong_epsilon_fails() {
  StepBench bench(LOCKSTEP_STEP_FILE);
  bench.set("epsilon", 0.1).run();
  check(bench.status() == "fail", "a wrong epsilon fails");
  check(bench.result("matches").mismatched == 64, "a wrong epsilon changes every element");
}

void a_wrong_parameter_is_refused() {
  StepBench bench(LOCKSTEP_STEP_FILE);
  bench.set("size", 0).set("epsilom", 0.1);
  const auto found = bench.diagnostics();
  check(found.size() == 2, "both mistakes are found");
  for (const auto& diagnostic : found)
    check(diagnostic.code == "P017" || diagnostic.did_you_mean == "epsilon", "range and name are checked");
}

}  // namespace

int main() try {
  the_right_norm_passes();
  a_wrong_epsilon_fails();
  a_wrong_parameter_is_refused();
  return failures == 0 ? 0 : 1;
} catch (const std::exception& error) {  // the bench was used in a way that cannot work
  std::fprintf(stderr, "FAILED: %s\n", error.what());
  return 1;
}
)template";

const std::string_view sample_pipeline = R"template(schema = 1
name = "@NAME@"
description = "Runs @STEP@ alone."

[[step]]
id   = "@NAME@"
uses = "@STEP@"
with = { size = 256 }
)template";

// A test compares it with what the program says about step_source.
const std::string_view step_page = R"template(# @STEP@

verifies an RMS norm in float32

## Outputs

| port | type | meaning |
| --- | --- | --- |
| `normed` | lockstep.tensor/1 | [size] float32 |

## Parameters

| name | value | meaning |
| --- | --- | --- |
| `size` | integer, 1 to 4096, default 64 | number of elements |
| `epsilon` | real, at least 0.0, default 1e-06 | what the device adds below the root |

## Checks

| name | criterion | level | compared with |
| --- | --- | --- | --- |
| `matches` | close | require | RMS norm in float64, rounded once |
)template";

}  // namespace lockstep::scaffold
