#include <lockstep/testing.hpp>

int main() {
  using namespace lockstep;
  StepBench right(LOCKSTEP_STEP_FILE);
  StepBench wrong(LOCKSTEP_STEP_FILE);
  const bool passes = right.run().verdict("matches") == Verdict::pass;
  const bool fails = wrong.set("factor", 3).run().verdict("matches") == Verdict::fail;
  return passes && fails && right.output<Tensor>("doubled")->values<float>()[2] == 6 ? 0 : 1;
}
