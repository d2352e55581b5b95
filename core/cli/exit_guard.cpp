#include "cli/exit_guard.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <atomic>
#include <cstdlib>
#include <string>

#include "cli/terminal_io.hpp"
#include "pipeline/exit_code.hpp"
#include "pipeline/render_diagnostic.hpp"

namespace lockstep::cli {
namespace {

std::atomic<pid_t> guarded = 0;                          ///< this process while a run goes on
std::atomic<const std::string*> running_step = nullptr;  ///< its id, in the run's record

extern "C" void on_exit_call() {
  if (guarded.load() != getpid()) return;
  std::fflush(stdout);  // what the step printed may tell why
  const auto* step = running_step.load();
  const auto who = step != nullptr ? "step " + in_quotes(*step) : std::string("a plugin");
  if (is_terminal(stderr)) print(stderr, "\r\x1b[2K");  // over the line of the running step
  print({{.message = fmt::format("{} ended the process by calling exit", who)}}, use_colour(stderr));
  _exit(exit_code::crashed);
}

void catch_exit() {
  std::atexit(on_exit_call);
  std::at_quick_exit(on_exit_call);
}

}  // namespace

ExitGuard::ExitGuard() {
  catch_exit();
  guarded = getpid();
}

ExitGuard::~ExitGuard() { guarded = 0; }

/// Handlers run last in, first out: this one before those of the plugins, which are loaded by now.
void ExitGuard::run_started(const RunRecord&) { catch_exit(); }

void ExitGuard::step_started(const RunRecord& record, std::size_t step) { running_step = &record.steps.at(step).id; }

void ExitGuard::step_finished(const RunRecord&, std::size_t) { running_step = nullptr; }

}  // namespace lockstep::cli
