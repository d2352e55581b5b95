// The package is compiled by the PyTorch of LOCKSTEP_PYTHON, whose eager mode is the judge.

#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include <lockstep/safetensors.hpp>

#include <lockstep/testing.hpp>

#include "catch.hpp"
#include "check/compare.hpp"
#include "process.hpp"
#include "tensors.hpp"

using namespace lockstep;
using namespace lockstep::test;

namespace {

/// Compiling takes half a minute: once for all cases.
const Scratch& compiled() {
  static const Scratch scratch;
  static const bool done = [] {
    const char* python = std::getenv("LOCKSTEP_PYTHON");
    REQUIRE(python != nullptr);
    const auto result =
        process::run({python, LOCKSTEP_SOURCE_DIR "/tests/live/aotinductor_live.py", scratch.path().string()},
                     {.environment = {"TORCHINDUCTOR_CACHE_DIR=" + scratch.file("cache")}});
    INFO(result.out << result.err);
    REQUIRE(result.code == 0);
    return true;
  }();
  REQUIRE(done);
  return scratch;
}

StepBench package(const std::shared_ptr<const NamedTensors>& inputs, Value::Array arguments, Value::Array results) {
  StepBench bench("common.run_aotinductor");
  bench.set("package", compiled().file("model.pt2"))
      .set("arguments", std::move(arguments))
      .set("results", std::move(results));
  bench.bind("inputs", inputs);
  return bench;
}

std::shared_ptr<const NamedTensors> inputs() {
  return std::make_shared<const NamedTensors>(read_tensor_file(compiled().file("inputs.safetensors")));
}

std::string error_of(StepBench bench) {
  const auto text = bench.run().error().value_or("none");
  const auto path = "package '" + compiled().file("model.pt2") + "': ";
  return text.starts_with(path) ? text.substr(path.size()) : text;
}

}  // namespace

TEST_CASE("a package gives what the module gives in PyTorch, by name") {
  auto bench = package(inputs(), {"hidden", "scale"}, {"output", "inner_sum"});
  bench.run();
  REQUIRE(bench.error() == std::nullopt);
  const auto expected = read_tensor_file(compiled().file("expected.safetensors"));
  const auto outputs = bench.output<NamedTensors>("outputs");
  for (const auto* name : {"output", "inner_sum"}) {
    const auto result = compare(expected.at(name), outputs->at(name), close());
    INFO(name << " " << result.message.value_or(""));
    CHECK(result.verdict == Verdict::pass);
    CHECK(result.compared > 2);
  }
}

TEST_CASE("inputs of another shape, dtype or number are errors, not wrong results") {
  const auto scale = inputs()->at("scale");
  const auto with_hidden = [&](const Tensor& hidden) { return set_of({{"hidden", hidden}, {"scale", scale}}); };
  const auto error = [&](const Tensor& hidden) {
    return error_of(package(with_hidden(hidden), {"hidden", "scale"}, {"output", "inner_sum"}));
  };
  CHECK(
      error(Tensor::copy_of(std::span<const float>(std::vector<float>(27)), {3, 9})).find("expected: 8, but got: 9") !=
      std::string::npos);
  CHECK(error(Tensor::copy_of(std::span<const double>(std::vector<double>(24)), {3, 8})).find("unmatched dtype") !=
        std::string::npos);
  CHECK(error_of(package(inputs(), {"hidden"}, {"output", "inner_sum"})) ==
        "expected inputs vector size to be 2, but got 1");
  CHECK(error_of(package(inputs(), {"hidden", "scale"}, {"output"})) == "it returned 2 tensors, `results` names 1");
  CHECK(
      error_of(package(inputs(), {"hidden", "scales"}, {"output", "inner_sum"})).find("the argument 'scales' is not") !=
      std::string::npos);
}

TEST_CASE("an input that is laid out otherwise gives the same result") {
  const auto hidden = inputs()->at("hidden");
  std::vector<float> turned(24);  // the same [3, 8] with the first axis contiguous
  const auto values = hidden.values<float>();
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t column = 0; column < 8; ++column) turned[column * 3 + row] = values[row * 8 + column];
  const Tensor transposed(nullptr, turned.data(), DType::float32, {3, 8}, {1, 3});
  auto bench = package(set_of({{"hidden", transposed}, {"scale", inputs()->at("scale")}}), {"hidden", "scale"},
                       {"output", "inner_sum"});
  bench.run();
  REQUIRE(bench.error() == std::nullopt);
  const auto expected = read_tensor_file(compiled().file("expected.safetensors"));
  CHECK(compare(expected.at("output"), bench.output<NamedTensors>("outputs")->at("output"), close()).verdict ==
        Verdict::pass);
}

TEST_CASE("a file that is no package, and a model that it does not hold, are told in one line") {
  StepBench bench("common.run_aotinductor");
  bench.set("package", compiled().file("inputs.safetensors"))
      .set("arguments", Value::Array{})
      .set("results", Value::Array{});
  bench.bind("inputs", set_of({})).run();
  CHECK(bench.error()->find("Failed to initialize zip archive") != std::string::npos);
  auto other = package(inputs(), {"hidden", "scale"}, {"output", "inner_sum"});
  other.set("model", "decoder");
  CHECK(error_of(std::move(other)).find("for model 'decoder' in the zip archive") != std::string::npos);
}
