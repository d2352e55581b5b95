#include <array>

#include <lockstep/step.hpp>

namespace {
using namespace lockstep;

/// Many conditions and one that is checked for each layer, all of which hold up to a limit.
struct ManyRules final : Step {
  Param<std::int64_t> good_layers{
      *this, "good_layers", "layers whose rule holds", {.default_value = 35, .min = 0, .max = 35}};
  Param<std::string> mood{*this, "mood", "has no effect", {.default_value = "calm", .choices = {"calm", "wild"}}};
  In<Tensor> numbers{*this, "numbers", "may be left out | or given", optional};
  Check first{*this, "first", expect(), ""};
  Check second{*this, "second", expect(), ""};
  Check third{*this, "third", expect(), ""};
  Check fourth{*this, "fourth", expect(), ""};
  Check layer_rule{*this, "layer_rule", expect(), "each layer's rule"};

  void run(StepContext&) override {
    for (auto* check : {&first, &second, &third, &fourth}) check->expect(true, "never shown");
    constexpr std::int64_t layers = 35;
    for (std::int64_t layer = 0; layer < layers; ++layer)
      layer_rule.at("layer", layer).expect(layer < *good_layers, "the rule is broken");
  }
};
}  // namespace

LOCKSTEP_STEP("toy.rules", ManyRules, "checks many rules")
