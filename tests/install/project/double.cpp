#include <array>
#include <cstdint>
#include <span>

#include <lockstep/step.hpp>

namespace {
using namespace lockstep;

/// Doubles 1, 2, 3; `factor` is there to get it wrong.
struct Double final : Step {
  Param<std::int64_t> factor{*this, "factor", "2 is right", {.default_value = 2, .min = 0}};
  Out<Tensor> doubled{*this, "doubled", "[3] float32"};
  Check matches{*this, "matches", bits(), "2, 4, 6"};

  void run(StepContext&) override {
    const auto f = static_cast<float>(*factor);
    const std::array<float, 3> right{2, 4, 6}, actual{f, 2 * f, 3 * f};
    const auto values = Tensor::copy_of(std::span<const float>(actual), {3});
    matches.compare(Expected{Tensor::copy_of(std::span<const float>(right), {3})}, Actual{values});
    doubled = values;
  }
};
}  // namespace
LOCKSTEP_STEP("outside.double", Double, "doubles three numbers")
