#pragma once

#include <atomic>

namespace lockstep::cli {

/// From now on the first Ctrl-C (or SIGTERM) sets the flag that is returned, so that a run can end with its record; the
/// second ends the program at once.
[[nodiscard]] const std::atomic<bool>& catch_interrupts();

}  // namespace lockstep::cli
