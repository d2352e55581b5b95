#include <lockstep/step.hpp>

#include "count.hpp"

namespace {
using namespace lockstep;

struct CountReader final : Step {
  In<counting::Count> count{*this, "count", "what another plugin made"};
  Check is_42{*this, "is_42", equal(), "the answer"};

  void run(StepContext&) override { is_42.equal(Expected{42}, Actual{count->value}); }
};
}  // namespace

LOCKSTEP_STEP("good.count_reader", CountReader)
