#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lockstep/export.hpp>

#include "process/process_memory.hpp"

namespace lockstep {

/// A program to run to its end.
struct ChildRequest {
  /// Program and arguments; no shell. A program without a slash is looked for in PATH, one with a slash is relative to
  /// `folder`.
  std::vector<std::string> argv;
  /// Added to this process's environment, replacing entries of the same name.
  std::vector<std::pair<std::string, std::string>> environment = {};
  std::vector<int> inherited = {};                  ///< descriptors (from 3) that it has too, under the same numbers
  std::filesystem::path folder = {};                ///< working folder; empty: this process's
  std::optional<double> time_limit = std::nullopt;  ///< seconds, > 0
  double grace = 2.0;                               ///< seconds between SIGTERM and SIGKILL
  std::size_t tail_bytes = 8192;                    ///< how much of the output's end is kept
  std::function<void(std::string_view)> on_output = nullptr;  ///< sees all output as it comes
  /// Called about every 20 ms while the child runs, for example to report progress. What it throws ends the child and
  /// passes on.
  std::function<void()> while_waiting = nullptr;
};

/// How it ended.
struct ChildResult {
  int exit_code = -1;             ///< -1 if a signal ended it
  int signal = 0;                 ///< that signal; 0 if it exited
  bool timed_out = false;         ///< it was ended by us, past the time limit
  std::string output_tail;        ///< the end of standard output and standard error, in the order of writing
  std::int64_t output_bytes = 0;  ///< of all output
  double seconds = 0;             ///< from start to end
  PeakMemory memory;              ///< of the child, looked at every 20 ms

  [[nodiscard]] bool succeeded() const noexcept { return exit_code == 0 && !timed_out; }
};

/// Runs a program in a process group of its own, with /dev/null as standard input, and waits for it. When it has ended,
/// or must end, so does all of its group: first by SIGTERM, after `grace` seconds by SIGKILL. Where it must end, so do
/// the processes that descend from it in groups and sessions of their own. If this process dies, the kernel kills the
/// child (not its children). Ctrl-C at the terminal does not reach the group: `while_waiting` does.
/// Throws Error if the program cannot be started.
[[nodiscard]] LOCKSTEP_API ChildResult run_child(const ChildRequest& request);

/// "exited with code 3", "was ended by signal 11 (SIGSEGV)", "was still running after 5 s".
[[nodiscard]] LOCKSTEP_API std::string ending_text(const ChildRequest& request, const ChildResult& result);

}  // namespace lockstep
