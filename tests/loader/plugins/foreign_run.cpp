#include <lockstep/step.hpp>

namespace {
struct ForeignRun final : lockstep::Step {
  void run(lockstep::StepContext&) override { throw 42; }
};
}  // namespace

LOCKSTEP_STEP("good.foreign_run", ForeignRun)
