#include "process/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

#include "process/output_tail.hpp"
#include "process/process_memory.hpp"
#include "process/process_tree.hpp"
#include "process/start_child.hpp"

namespace lockstep {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds interval{20};
constexpr std::size_t read_size = 16384;
// A mebibyte, the most that a pipe holds. Not "until its end": a process that left the group may hold it open for ever.
constexpr int reads_after_end = 64;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// A child from its start to its end; destroyed before it, it kills its group.
class RunningChild {
 public:
  explicit RunningChild(const ChildRequest& request)
      : request_(request), tail_(request.tail_bytes), child_(start_child(request)) {
    fcntl(child_.output.get(), F_SETFL, O_NONBLOCK);
  }
  RunningChild(const RunningChild&) = delete;
  RunningChild& operator=(const RunningChild&) = delete;
  ~RunningChild() {
    if (!ended_) reap(nullptr);
  }

  /// Follows the child until it has ended or `limit` seconds have passed; true if it has ended.
  bool follow(double limit, const std::function<void()>& each_interval) {
    const auto start = Clock::now();
    while (!has_exited()) {
      if (seconds_since(start) >= limit) return false;
      memory_.take(memory_of(child_.pid));
      wait_for_output();
      if (each_interval) each_interval();
    }
    return true;
  }

  /// SIGTERM to the group and to all that descend from the child; whatever has not ended when the child has, or after
  /// the grace, gets SIGKILL.
  void end() {
    family_ = descendants_of(child_.pid);
    kill(-child_.pid, SIGTERM);
    signal_all(family_, SIGTERM);
    follow(request_.grace, nullptr);
    const auto later = descendants_of(child_.pid);
    family_.insert(family_.end(), later.begin(), later.end());
  }

  [[nodiscard]] ChildResult result() {
    ChildResult result;
    int status = 0;
    if (!reap(&status))
      throw Error{fmt::format("how '{}' ended is not known: {}", request_.argv.front(), std::strerror(errno))};
    for (int i = 0; i < reads_after_end && read_output(); ++i) continue;
    if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
    result.seconds = seconds_since(started_);
    result.output_tail = tail_.text();
    result.output_bytes = tail_.size();
    result.memory = memory_;
    return result;
  }

 private:
  /// Leaves the child a zombie: while it is one, its group's id cannot become another's.
  [[nodiscard]] bool has_exited() const {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(child_.pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
  }

  void wait_for_output() {
    if (child_.output.get() < 0) return std::this_thread::sleep_for(interval);
    pollfd output{child_.output.get(), POLLIN, 0};
    if (poll(&output, 1, static_cast<int>(interval.count())) > 0) read_output();
  }

  /// One piece of what is there now; false if nothing is.
  bool read_output() {
    std::array<char, read_size> buffer;
    ssize_t size = 0;
    do size = read(child_.output.get(), buffer.data(), buffer.size());
    while (size < 0 && errno == EINTR);
    if (size == 0) child_.output.reset();
    if (size <= 0) return false;
    const std::string_view piece(buffer.data(), static_cast<std::size_t>(size));
    tail_.add(piece);
    if (request_.on_output) request_.on_output(piece);
    return true;
  }

  bool reap(int* status) {
    ended_ = true;
    kill(-child_.pid, SIGKILL);
    signal_all(family_, SIGKILL);
    pid_t reaped = 0;
    do reaped = waitpid(child_.pid, status, 0);
    while (reaped < 0 && errno == EINTR);
    return reaped == child_.pid;
  }

  const ChildRequest& request_;
  Clock::time_point started_ = Clock::now();
  OutputTail tail_;
  StartedChild child_;
  std::vector<ProcessId> family_;  ///< of a child that had to be ended
  PeakMemory memory_;
  bool ended_ = false;
};

}  // namespace

ChildResult run_child(const ChildRequest& request) {
  RunningChild child(request);
  const double limit = request.time_limit.value_or(std::numeric_limits<double>::infinity());
  bool in_time = true;
  try {
    in_time = child.follow(limit, request.while_waiting);
  } catch (...) {
    child.end();
    throw;
  }
  if (!in_time) child.end();
  auto result = child.result();
  result.timed_out = !in_time;
  return result;
}

std::string ending_text(const ChildRequest& request, const ChildResult& result) {
  if (result.timed_out) return fmt::format("was still running after {} s", request.time_limit.value_or(0));
  if (result.signal == 0) return fmt::format("exited with code {}", result.exit_code);
  const char* name = sigabbrev_np(result.signal);
  return name == nullptr ? fmt::format("was ended by signal {}", result.signal)
                         : fmt::format("was ended by signal {} (SIG{})", result.signal, name);
}

}  // namespace lockstep
