#include "cli/interrupt.hpp"

#include <unistd.h>
#include <csignal>
#include <string_view>

#include "pipeline/exit_code.hpp"

namespace lockstep::cli {
namespace {

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "the signal handler uses it");

extern "C" void on_interrupt(int) {
  if (interrupted.exchange(true)) _exit(exit_code::interrupted);
  constexpr std::string_view text = "\ninterrupted: the run ends with its record; once more ends it at once\n";
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

}  // namespace

const std::atomic<bool>& catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;  // libraries do not expect their reads to be interrupted
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return interrupted;
}

}  // namespace lockstep::cli
