#pragma once

#include <cstdint>

#include <lockstep/port.hpp>

namespace gemma4 {

/// What the decode step found, for a reader that has to explain a differing token.
struct DecodeErrors {
  bool passed = false;     ///< every required check of decode holds
  std::int64_t steps = 0;  ///< that were compared
  double bound = 0;        ///< the smallest bound of max |a - e| of the logits
};

}  // namespace gemma4

LOCKSTEP_PORT_TYPE(gemma4::DecodeErrors, "gemma4.decode_errors/1");
