#include "engine/process_memory.hpp"

#include <sys/resource.h>

#include <fstream>
#include <string>

namespace lockstep {

void reset_peak_memory() { std::ofstream("/proc/self/clear_refs") << "5"; }

std::int64_t peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key;) {
    if (key == "VmHWM:") {
      std::int64_t kibibytes = 0;
      if (status >> kibibytes) return kibibytes * 1024;
    }
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

}  // namespace lockstep
