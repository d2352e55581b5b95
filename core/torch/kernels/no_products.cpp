#include "kernels/dot64.hpp"
#include "kernels/products.hpp"

// For CPUs that the kernels were not written for: nothing here is called, since has_avx2() is false.

namespace lockstep::kernels {

bool has_avx2() noexcept { return false; }
void dot64(const Rows& /*x*/, const Rows& /*w*/, const Sizes& /*sizes*/, std::uint16_t* /*out*/) {}
void sum4(const Rows& /*a*/, const Rows& /*b*/, const Sizes& /*sizes*/, std::uint16_t* /*out*/) {}

}  // namespace lockstep::kernels
