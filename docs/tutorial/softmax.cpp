#include <cmath>
#include <lockstep/step.hpp>

namespace {
using namespace lockstep;

/// Verifies a softmax in float32, as a device would compute it, against one in float64.
struct Softmax final : Step {
  Param<std::int64_t> length{*this, "length", "number of logits: 0, 0.1, 0.2, …", {.default_value = 500, .min = 1}};
  Param<bool> subtract_max{*this, "subtract_max", "subtract the largest logit first", {.default_value = true}};
  Out<Tensor> probabilities{*this, "probabilities", "[length] float32"};
  Check matches{*this, "matches", close(), "softmax in float64, rounded once"};

  void run(StepContext&) override {
    const auto device = softmax<float>(*subtract_max);
    matches.compare(Expected{softmax<double>(true)}, Actual{device});
    probabilities = device;
  }
  template <class T>
  Tensor softmax(bool shifted) const {
    std::vector<T> p(static_cast<std::size_t>(*length));
    T sum = 0, shift = shifted ? static_cast<T>(*length - 1) / 10 : 0;
    for (std::size_t i = 0; i < p.size(); ++i) sum += p[i] = std::exp(static_cast<T>(i) / 10 - shift);
    std::vector<float> rounded;
    for (const T value : p) rounded.push_back(static_cast<float>(value / sum));
    return Tensor::copy_of(std::span<const float>(rounded), {*length});
  }
};
}  // namespace
LOCKSTEP_STEP("mine.softmax", Softmax, "verifies a softmax in float32")
