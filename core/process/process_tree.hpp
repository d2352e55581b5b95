#pragma once

#include <sys/types.h>
#include <cstdint>
#include <vector>

namespace lockstep {

/// A process, not another one that has its number later.
struct ProcessId {
  pid_t pid = 0;
  std::uint64_t started = 0;  ///< clock ticks since the machine started
};

/// The children of a process, their children and so on, whatever group or session they have made for themselves. Those
/// whose parent has ended are not found.
[[nodiscard]] std::vector<ProcessId> descendants_of(pid_t root);

/// Sends a signal to each that is still there.
void signal_all(const std::vector<ProcessId>& processes, int signal);

}  // namespace lockstep
