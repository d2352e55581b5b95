#include <lockstep/step.hpp>

namespace {
using namespace lockstep;

/// Compares two lists of numbers bit for bit and hands the second one on.
struct Compare final : Step {
  In<Tensor> expected{*this, "expected", "what is right"};
  In<Tensor> actual{*this, "actual", "what is verified"};
  Out<Tensor> result{*this, "result", "[n]"};
  Check same_bits{*this, "same_bits", bits(), "the expected numbers"};
  Check same_count{*this, "same_count", equal(), "how many there should be"};

  void run(StepContext&) override {
    same_bits.compare(Expected{*expected}, Actual{*actual});
    same_count.equal(Expected{expected->numel()}, Actual{actual->numel()});
    result = *actual;
  }
};
}  // namespace

LOCKSTEP_STEP("toy.compare", Compare, "compares numbers bit for bit")
