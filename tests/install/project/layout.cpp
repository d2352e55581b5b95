#include <lockstep/step.hpp>

#include "runtime/runtime.hpp"

namespace {
using namespace lockstep;

/// Reads the runtime that is verified.
struct Layout final : Step {
  In<gemma4::Runtime> runtime{*this, "runtime", "what is verified"};
  Check has_slots{*this, "has_slots", equal(), "max_seq of the pipeline"};

  void run(StepContext&) override { has_slots.equal(Expected{160}, Actual{runtime->layout().max_seq}); }
};
}  // namespace
LOCKSTEP_STEP("outside.layout", Layout)
