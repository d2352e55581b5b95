#include <algorithm>
#include <lockstep/step.hpp>

namespace {
using namespace lockstep;

/// Reads what another step published: the largest probability must be the last one's.
struct TopProbability final : Step {
  In<Tensor> probabilities{*this, "probabilities", "[length] float32, ascending logits"};
  Check is_last{*this, "is_last", equal(), "the last index"};

  void run(StepContext&) override {
    const auto values = probabilities->values<float>();
    const auto top = std::distance(values.begin(), std::max_element(values.begin(), values.end()));
    is_last.equal(Expected{probabilities->numel() - 1}, Actual{top});
  }
};
}  // namespace
LOCKSTEP_STEP("mine.top_probability", TopProbability, "verifies which probability is the largest")
