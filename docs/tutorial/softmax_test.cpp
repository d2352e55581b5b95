#undef NDEBUG
#include <cassert>
#include <lockstep/testing.hpp>

using namespace lockstep;

int main() {
  StepBench right(LOCKSTEP_STEP_FILE);
  right.set("length", 1000).run();
  assert(right.verdict("matches") == Verdict::pass);
  assert(right.output<Tensor>("probabilities")->numel() == 1000);

  StepBench wrong(LOCKSTEP_STEP_FILE);  // a check that cannot fail is worth nothing
  wrong.set("length", 1000).set("subtract_max", false).run();
  assert(wrong.result("matches").mismatched == 112);

  StepBench mistyped(LOCKSTEP_STEP_FILE);
  mistyped.set("lenght", 10);
  assert(mistyped.diagnostics().at(0).did_you_mean == "length");
}
