#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <lockstep/export.hpp>

namespace lockstep {

/// How far a step is, from what it reports, and how long it will take at that pace. A step with several rounds, one
/// after the other, gives each a unit of its own; pace and estimate are those of the round, from its first report on.
class LOCKSTEP_API StepProgress {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// A step begins.
  void start();
  /// `done` of `total` units are done.
  void report(Time now, std::int64_t done, std::int64_t total, std::string_view unit);
  /// "runtime layer 12 of 35, about 25 s left"; empty before the first report.
  [[nodiscard]] std::string text() const;

 private:
  std::string unit_;
  std::int64_t done_ = 0;
  std::int64_t total_ = 0;
  std::int64_t first_done_ = 0;  // by the round's first report
  Time first_reported_;
  Time reported_;
};

}  // namespace lockstep
