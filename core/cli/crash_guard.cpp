#include "cli/crash_guard.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <array>
#include <atomic>
#include <csignal>
#include <string_view>

#include "cli/terminal_io.hpp"
#include "report/text.hpp"

namespace lockstep::cli {
namespace {

struct FatalSignal {
  int number;
  std::string_view text;
};
constexpr std::array fatal_signals{FatalSignal{SIGSEGV, "11 (SIGSEGV)"}, FatalSignal{SIGABRT, "6 (SIGABRT)"},
                                   FatalSignal{SIGBUS, "7 (SIGBUS)"}, FatalSignal{SIGFPE, "8 (SIGFPE)"},
                                   FatalSignal{SIGILL, "4 (SIGILL)"}};

/// What the handler may read: set while a step runs, never changed while it is set.
struct Message {
  std::string_view before;
  std::string_view after;
  pid_t process = 0;
};
Message message;
std::atomic<bool> is_set = false;
static_assert(std::atomic<bool>::is_always_lock_free, "the signal handler uses it");

void tell(std::string_view text) {
  while (!text.empty()) {
    const auto written = write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// Only what POSIX allows in a handler. The default action is back by then (SA_RESETHAND).
extern "C" void on_fatal_signal(int signal) {
  if (is_set.exchange(false) && message.process == getpid()) {
    std::string_view name = "a signal";
    for (const auto& known : fatal_signals)
      if (known.number == signal) name = known.text;
    tell(message.before);
    tell(name);
    tell(message.after);
  }
  raise(signal);
}

/// A stack that is full cannot run the handler.
alignas(16) std::array<char, 64 * 1024> handler_stack;

}  // namespace

CrashGuard::CrashGuard() {
  stack_t stack{};
  stack_t other{};
  const bool is_free = sigaltstack(nullptr, &other) == 0 && (other.ss_flags & SS_DISABLE) != 0;
  stack.ss_sp = handler_stack.data();
  stack.ss_size = handler_stack.size();
  if (is_free) sigaltstack(&stack, nullptr);
  for (const auto& fatal : fatal_signals) {
    struct sigaction before = {};
    if (sigaction(fatal.number, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) continue;
    struct sigaction action = {};
    action.sa_handler = on_fatal_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_ONSTACK);
    sigaction(fatal.number, &action, nullptr);
  }
}

CrashGuard::~CrashGuard() { is_set = false; }

void CrashGuard::step_started(const RunRecord& record, std::size_t step) {
  const auto& running = record.steps.at(step);
  const auto* clear_line = is_terminal(stderr) ? "\r\x1b[2K" : "";
  before_ = fmt::format("{}error: step '{}' ended the run: signal ", clear_line, printable(running.id));
  after_ = fmt::format(" in {}\n  help: with isolation = \"process\" the step crashes alone, and the run goes on\n",
                       printable(running.plugin_file));
  message = {before_, after_, getpid()};
  is_set = true;
}

void CrashGuard::step_finished(const RunRecord&, std::size_t) { is_set = false; }

}  // namespace lockstep::cli
