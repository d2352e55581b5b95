#include "report/live.hpp"

#include <fmt/format.h>
#include <utility>

#include "report/text.hpp"

namespace lockstep {

void LiveReport::step_started(const RunRecord& record, std::size_t step) {
  step_ = printable(record.steps.at(step).id);
  started_ = shown_ = Clock::now();
  progress_.start();
  if (running_.is_terminal) show();
}

void LiveReport::step_progress(std::size_t, std::int64_t done, std::int64_t total, std::string_view unit) {
  constexpr std::chrono::milliseconds between_changes{100};
  const auto now = Clock::now();
  progress_.report(now, done, total, unit);
  if (now - shown_ >= (running_.is_terminal ? between_changes : running_.between_lines)) show();
}

void LiveReport::step_output(std::size_t, std::string_view text) {
  clear();
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void LiveReport::step_finished(const RunRecord& record, std::size_t step) {
  clear();
  if (!std::exchange(header_printed_, true)) print(terminal_header(record, style_));
  print(terminal_step(record, step, style_));
}

void LiveReport::print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), report_);
  std::fflush(report_);
}

void LiveReport::show() {
  if (running_.stream == nullptr) return;
  shown_ = Clock::now();
  const auto progress = progress_.text();
  if (running_.is_terminal) {
    // No line wrap while it is written: a line that wraps could not be taken back.
    fmt::print(running_.stream, "\r\x1b[?7l\x1b[2K▸ {}  {:.1f} s{}{}\x1b[?7h", step_, seconds(),
               progress.empty() ? "" : "  ", progress);
  } else {
    fmt::print(running_.stream, "{}: {} (after {:.0f} s)\n", step_, progress, seconds());
  }
  std::fflush(running_.stream);
}

void LiveReport::clear() {
  if (!running_.is_terminal) return;
  fmt::print(running_.stream, "\r\x1b[2K");
  std::fflush(running_.stream);
}

double LiveReport::seconds() const { return std::chrono::duration<double>(shown_ - started_).count(); }

}  // namespace lockstep
