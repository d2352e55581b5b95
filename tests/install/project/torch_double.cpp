#include <ATen/ops/add.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>

#include <lockstep/step.hpp>
#include <lockstep/torch.hpp>

namespace {
using namespace lockstep;

/// The same with LibTorch.
struct TorchDouble final : Step {
  Check matches{*this, "matches", bits(), "x + x"};

  void run(StepContext&) override {
    const auto x = at::ones({3});
    matches.compare(Expected{at::add(x, x)}, Actual{at::mul(x, 2)});
  }
};
}  // namespace
LOCKSTEP_STEP("outside.torch_double", TorchDouble)
