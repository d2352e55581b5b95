#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include <lockstep/export.hpp>

namespace lockstep {

/// The largest resident memory of a process that was seen.
struct PeakMemory {
  std::int64_t rss_bytes = 0;      ///< in all: what it has allocated, and the pages of files that it maps
  std::int64_t private_bytes = 0;  ///< what it has allocated alone; files can be read again, this cannot

  /// The larger of both, each by itself.
  void take(const PeakMemory& other) noexcept;
};

/// What the kernel tells of process `pid` now: its largest resident set so far, its private memory at this moment.
/// Zeros if there is no such process.
[[nodiscard]] PeakMemory memory_of(pid_t pid);

/// Measures the memory of this process from its construction on. The kernel keeps the peak of the resident set (since
/// the process began where Linux does not let it be reset); private memory is looked at every 10 ms, so a shorter peak
/// may be missed.
class LOCKSTEP_API MemoryWatch {
 public:
  MemoryWatch();
  ~MemoryWatch();
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

  /// Until now.
  [[nodiscard]] PeakMemory peak();

 private:
  void look_until_ended();

  std::mutex mutex_;
  std::condition_variable end_;
  bool ended_ = false;
  PeakMemory peak_;
  std::thread thread_;
};

}  // namespace lockstep
