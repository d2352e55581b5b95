#pragma once

#include <cstdint>

namespace lockstep {

/// Starts a new measurement of the peak where the kernel allows it (Linux: /proc/self/clear_refs).
void reset_peak_memory();
/// Largest resident set of this process since the last reset, in bytes; since its start where resetting is not
/// possible.
[[nodiscard]] std::int64_t peak_memory_bytes();

}  // namespace lockstep
