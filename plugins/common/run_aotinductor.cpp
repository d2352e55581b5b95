#include <lockstep/step.hpp>
#include <lockstep/torch.hpp>

#include <cstdlib>
#include <memory>

#include <ATen/ops/clone.h>
#include <fmt/format.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include "torch_calls.hpp"

namespace {
using namespace lockstep;
using Texts = std::vector<std::string>;

/// Runs a model that torch.export and AOTInductor have compiled.
struct RunAotInductor final : Step {
  In<NamedTensors> inputs{*this, "inputs", "the arguments are taken from it"};
  Out<NamedTensors> outputs{*this, "outputs", "the results"};

  Param<FilePath> package{*this, "package", "a .pt2 file, as torch._inductor.aoti_compile_and_package writes it"};
  Param<std::string> model{*this, "model", "the model of the package", {.default_value = "model"}};
  Param<Texts> arguments{*this, "arguments",
                         "names of the inputs to pass, in the order of the exported module's arguments"};
  Param<Texts> results{*this, "results", "names of what it returns, in its order"};

  void run(StepContext& context) override {
    // Without it the compiled code reads inputs of another shape or dtype as if they were what it expects.
    setenv("AOTI_RUNTIME_CHECK_INPUTS", "1", 1);
    const auto who = "package '" + package->path.string() + "'";
    std::unique_ptr<torch::inductor::AOTIModelPackageLoader> loader;
    common::translated(who, [&] {
      loader = std::make_unique<torch::inductor::AOTIModelPackageLoader>(package->path.string(), *model);
    });
    const auto values = common::arguments_of(who, *inputs, *arguments);
    std::vector<at::Tensor> found;
    common::translated(who, [&] { found = loader->run(values); });
    for (auto& tensor : found) tensor = tensor.clone();  // it may be a constant of the package, which goes with it
    outputs = common::named(who, found, *results);
    context.summary(fmt::format("{} tensors in, {} out", values.size(), found.size()));
  }
};
}  // namespace

LOCKSTEP_STEP("common.run_aotinductor", RunAotInductor, "runs a model that AOTInductor has compiled (.pt2)")
