#include "report/live.hpp"

#include <fmt/format.h>
#include <utility>

#include "report/text.hpp"

namespace lockstep {

void LiveReport::step_started(const RunRecord& record, std::size_t step) {
  running_ = printable(record.steps.at(step).id);
  started_ = Clock::now();
  show({});
}

void LiveReport::step_progress(std::size_t, std::int64_t done, std::int64_t total, std::string_view unit) {
  constexpr auto interval = std::chrono::milliseconds(100);
  if (live_ == nullptr || Clock::now() - shown_ < interval) return;
  show(fmt::format("  {} of {} {}", grouped(done), grouped(total), printable(unit)));
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

void LiveReport::show(const std::string& progress) {
  if (live_ == nullptr) return;
  shown_ = Clock::now();
  const auto seconds = std::chrono::duration<double>(shown_ - started_).count();
  // No line wrap while it is written: a line that wraps could not be taken back.
  fmt::print(live_, "\r\x1b[?7l\x1b[2K▸ {}  {:.1f} s{}\x1b[?7h", running_, seconds, progress);
  std::fflush(live_);
}

void LiveReport::clear() {
  if (live_ == nullptr) return;
  fmt::print(live_, "\r\x1b[2K");
  std::fflush(live_);
}

}  // namespace lockstep
