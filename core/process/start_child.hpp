#pragma once

#include <sys/types.h>

#include <utility>

#include "process/child_process.hpp"

namespace lockstep {

/// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { reset(); }

  [[nodiscard]] int get() const noexcept { return fd_; }
  void reset() noexcept;

 private:
  int fd_;
};

/// A child that runs, and the end of the pipe that its output comes from.
struct StartedChild {
  pid_t pid;
  Descriptor output;
};

/// Starts it in a process group of its own (the group's id is `pid`). Throws Error if that cannot be done, with the
/// reason that the system gives.
[[nodiscard]] StartedChild start_child(const ChildRequest& request);

}  // namespace lockstep
