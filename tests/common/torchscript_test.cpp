#include <ATen/TensorOperators.h>
#include <torch/csrc/jit/api/module.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <lockstep/testing.hpp>

#include "catch.hpp"
#include "tensors.hpp"

using namespace lockstep;
using namespace lockstep::test;

namespace {

// Sums and products of small integers: exact in float32.
constexpr auto* methods = R"(
def forward(self, x, scale):
    return x * scale + 1
def pair(self, x, scale):
    return x + scale, x - scale
def several(self, x):
    return [x, x + 1, x + 2]
def by_name(self, x):
    return {"once": x, "twice": x * 2}
def nested(self, x):
    return x, (x, x)
def number(self, x):
    return 5
def numbers(self, x):
    return {"five": 5}
def in_place(self, x):
    x.add_(1)
    return x
def refuses(self, x):
    assert x.numel() == 0, "the cache is full"
    return x
)";

/// A bench whose step calls `method` of a module with the methods above.
class Call {
 public:
  explicit Call(const std::string& method, const std::vector<std::string>& arguments = {"x"}) {
    torch::jit::Module module("Small");
    module.define(methods);
    module.save(scratch_.file("small.pt"));
    Value::Array names(arguments.begin(), arguments.end());
    bench.set("module", scratch_.file("small.pt")).set("method", method).set("arguments", std::move(names));
    bench.bind("inputs", inputs);
  }

  std::vector<float> output(const std::string& name) {
    return values_of(bench.output<NamedTensors>("outputs")->at(name));
  }
  /// The error's text without the module's path.
  std::string error() {
    const auto text = bench.run().error().value_or("none");
    const auto path = "module '" + scratch_.file("small.pt") + "'";
    return text.starts_with(path) ? text.substr(path.size()) : text;
  }

  std::shared_ptr<const NamedTensors> inputs = set_of({{"scale", floats({2, 3})}, {"x", floats({5, 7})}});
  StepBench bench{"common.run_torchscript"};

 private:
  Scratch scratch_;
};

}  // namespace

TEST_CASE("inputs are passed by name in the order of the arguments, results are named in theirs") {
  Call forward("forward", {"x", "scale"});
  forward.bench.set("results", Value::Array{"y"}).run();
  REQUIRE(forward.bench.error() == std::nullopt);
  CHECK(forward.output("y") == std::vector<float>{11, 22});
  CHECK(forward.bench.summary() == "forward: 2 tensors in, 1 out");

  Call pair("pair", {"scale", "x"});
  pair.bench.set("results", Value::Array{"sum", "difference"}).run();
  CHECK(pair.output("sum") == std::vector<float>{7, 10});
  CHECK(pair.output("difference") == std::vector<float>{-3, -4});

  Call several("several");
  several.bench.set("results", Value::Array{"a", "b", "c"}).run();
  CHECK(several.output("c") == std::vector<float>{7, 9});
}

TEST_CASE("of a dictionary all keys are published, or those that results names") {
  Call all("by_name");
  all.bench.run();
  CHECK(all.output("once") == std::vector<float>{5, 7});
  CHECK(all.output("twice") == std::vector<float>{10, 14});
  Call one("by_name");
  one.bench.set("results", Value::Array{"twice"}).run();
  CHECK(one.bench.output<NamedTensors>("outputs")->names() == std::vector<std::string>{"twice"});
  Call missing("by_name");
  missing.bench.set("results", Value::Array{"thrice"});
  CHECK(missing.error() == ", method by_name: it returned no 'thrice'");
}

TEST_CASE("a module that writes into its arguments does not change the inputs of other steps") {
  Call call("in_place");
  call.bench.set("results", Value::Array{"x"}).run();
  CHECK(call.output("x") == std::vector<float>{6, 8});
  CHECK(values_of(call.inputs->at("x")) == std::vector<float>{5, 7});
}

TEST_CASE("names and numbers of arguments and results that do not fit are errors") {
  CHECK(Call("forward", {"x", "scales"}).error() ==
        ", method forward: the argument 'scales' is not among the inputs, which are: scale, x");
  CHECK(Call("forward").error().starts_with(", method forward: forward() is missing value for argument 'scale'."));
  CHECK(Call("several", {"x", "scale"}).error().starts_with(", method several: Expected at most 2 argument(s)"));
  Call few("pair", {"x", "scale"});
  few.bench.set("results", Value::Array{"sum"});
  CHECK(few.error() == ", method pair: it returned 2 tensors, `results` names 1");
  CHECK(Call("forward", {"x", "scale"}).error() == ", method forward: it returned 1 tensors, `results` names 0");
}

TEST_CASE("results that are no tensors are errors that say which and what they are") {
  CHECK(Call("number").error() == ", method number: its result is Int, expected a tensor");
  CHECK(Call("nested").error() == ", method nested: result 1 is Tuple, expected a tensor");
  CHECK(Call("numbers").error() == ", method numbers: result 'five' is Int, expected a tensor");
}

TEST_CASE("what goes wrong in LibTorch is told in one line") {
  CHECK(Call("missing").error() == " has no method 'missing'");
  CHECK(Call("refuses").error().ends_with("the cache is full"));
  Call shapes("forward", {"x", "scale"});
  shapes.bench.bind("inputs", set_of({{"x", floats({1, 2})}, {"scale", floats({1, 2, 3})}}));
  const auto text = shapes.error();
  CHECK(text.find("The size of tensor a (2) must match the size of tensor b (3)") != std::string::npos);
  CHECK(text.find('\n') == std::string::npos);
  StepBench bench("common.run_torchscript");
  bench.set("module", LOCKSTEP_TEST_DATA "/npy/vector.npy").set("arguments", Value::Array{});
  bench.bind("inputs", set_of({})).run();
  CHECK(bench.error()->find("PytorchStreamReader failed reading zip archive") != std::string::npos);
}
