// Compiled twice: see CMakeLists.txt.
#include <lockstep/step.hpp>

bool compare_sides(lockstep::Check& check, const lockstep::Tensor& right, const lockstep::Tensor& verified) {
#ifdef SWAPPED
  return check.compare(lockstep::Actual{verified}, lockstep::Expected{right});
#else
  return check.compare(lockstep::Expected{right}, lockstep::Actual{verified});
#endif
}
