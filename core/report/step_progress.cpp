#include "report/step_progress.hpp"

#include <cmath>

#include <fmt/format.h>

#include "report/text.hpp"

namespace lockstep {
namespace {

std::string duration_text(double seconds) {
  constexpr double minute = 60;
  constexpr double longest_in_seconds = 100;
  return seconds < longest_in_seconds ? fmt::format("{:.0f} s", std::ceil(seconds))
                                      : fmt::format("{:.0f} min", std::ceil(seconds / minute));
}

}  // namespace

void StepProgress::start() { *this = StepProgress(); }

void StepProgress::report(Time now, std::int64_t done, std::int64_t total, std::string_view unit) {
  if (unit != unit_ || done < done_) {
    unit_ = unit;
    first_done_ = done;
    first_reported_ = now;
  }
  done_ = done;
  total_ = total;
  reported_ = now;
}

std::string StepProgress::text() const {
  if (total_ == 0) return {};
  auto text = fmt::format("{} {} of {}", printable(unit_), grouped(done_), grouped(total_));
  constexpr double long_enough = 1;  // to tell a pace
  const auto seconds = std::chrono::duration<double>(reported_ - first_reported_).count();
  if (done_ == first_done_ || done_ >= total_ || seconds < long_enough) return text;
  const auto left = seconds / static_cast<double>(done_ - first_done_) * static_cast<double>(total_ - done_);
  return text + fmt::format(", about {} left", duration_text(left));
}

}  // namespace lockstep
