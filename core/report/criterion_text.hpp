#pragma once

#include <string>

#include <lockstep/check.hpp>

namespace lockstep {

/// "close (rtol 0.016, atol 1e-05)", "peir (max 0.02)", "bits"
[[nodiscard]] std::string criterion_text(const Criterion& criterion);
/// "rtol 0.016, atol 1e-05"; "" for no key.
[[nodiscard]] std::string bound_text(const Bound& bound);

}  // namespace lockstep
