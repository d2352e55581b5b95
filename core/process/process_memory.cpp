#include "process/process_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>

#include <fmt/format.h>

namespace lockstep {
namespace {

/// Resident pages that belong to no file and are not shared.
std::int64_t private_bytes_of(const std::string& process) {
  std::ifstream statm(fmt::format("/proc/{}/statm", process));
  std::int64_t size = 0, resident = 0, shared = 0;
  if (!(statm >> size >> resident >> shared)) return 0;
  return (resident - shared) * ::sysconf(_SC_PAGESIZE);
}

std::int64_t peak_rss_of(const std::string& process) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::strtoll(line.c_str() + 6, nullptr, 10) * 1024;
  }
  return 0;
}

void reset_peak_rss() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace

void PeakMemory::take(const PeakMemory& other) noexcept {
  rss_bytes = std::max(rss_bytes, other.rss_bytes);
  private_bytes = std::max(private_bytes, other.private_bytes);
}

PeakMemory memory_of(pid_t pid) {
  const auto process = std::to_string(pid);
  return {.rss_bytes = peak_rss_of(process), .private_bytes = private_bytes_of(process)};
}

MemoryWatch::MemoryWatch() {
  reset_peak_rss();
  // Signals are for the thread that waits for a child or computes.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_ = std::thread(&MemoryWatch::look_until_ended, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

MemoryWatch::~MemoryWatch() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  end_.notify_one();
  thread_.join();
}

PeakMemory MemoryWatch::peak() {
  const std::lock_guard lock(mutex_);
  peak_.private_bytes = std::max(peak_.private_bytes, private_bytes_of("self"));
  peak_.rss_bytes = peak_rss_of("self");
  if (peak_.rss_bytes == 0) {  // a kernel that does not tell it
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    peak_.rss_bytes = std::int64_t{usage.ru_maxrss} * 1024;
  }
  return peak_;
}

void MemoryWatch::look_until_ended() {
  constexpr std::chrono::milliseconds interval{10};
  std::unique_lock lock(mutex_);
  while (!end_.wait_for(lock, interval, [this] { return ended_; })) {
    peak_.private_bytes = std::max(peak_.private_bytes, private_bytes_of("self"));
  }
}

}  // namespace lockstep
