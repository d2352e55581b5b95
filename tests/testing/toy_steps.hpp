#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include <lockstep/testing.hpp>

namespace toy {

using namespace lockstep;

inline Tensor floats(const std::vector<float>& values) {
  return Tensor::copy_of(std::span<const float>(values), {static_cast<std::int64_t>(values.size())});
}

/// Adds `offset` to each element; right is an offset of 1.
struct AddOne final : Step {
  In<Tensor> x{*this, "x", "[n] float32"};
  In<std::string> note{*this, "note", "shown in the summary", optional};
  Param<double> offset{*this, "offset", "what is added", {.default_value = 1.0, .min = 0.0, .max = 10.0}};
  Param<std::string> mode{
      *this, "mode", "how it ends", {.default_value = "run", .choices = {"run", "throw", "skip", "silent"}}};
  Param<bool> forbidden{*this, "forbidden", "refused by a rule", {.default_value = false}};
  Out<Tensor> y{*this, "y", "[n] float32"};
  Check matches{*this, "matches", max_abs(0.25), "x + 1"};
  Check counted{*this, "counted", equal(), "as many as x has", Level::inform};

  void validate(Rules& rules) const override {
    if (*forbidden) rules.error(forbidden, "forbidden is true, expected false");
  }
  void run(StepContext& context) override {
    if (*mode == "throw") throw Error{"the device is gone", "plug it in"};
    if (*mode == "skip") return context.skip("nothing to add to");
    std::vector<float> actual, expected;
    for (const float value : x->values<float>()) {
      actual.push_back(value + static_cast<float>(*offset));
      expected.push_back(value + 1);
    }
    matches.compare(Expected{floats(expected)}, Actual{floats(actual)});
    counted.at("all").equal(Expected{x->numel()}, Actual{std::int64_t{3}});
    context.summary(note ? *note : "no note");
    context.record("elements", x->numel());
    if (*mode != "silent") y = floats(actual);
  }
};

}  // namespace toy
