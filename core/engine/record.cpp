#include "engine/record.hpp"

#include <algorithm>
#include <array>

namespace lockstep {

std::string_view name_of(RunVerdict verdict) noexcept {
  switch (verdict) {
    case RunVerdict::pass:
      return "pass";
    case RunVerdict::fail:
      return "fail";
    case RunVerdict::error:
      return "error";
    case RunVerdict::invalid:
      return "invalid";
    case RunVerdict::interrupted:
      return "interrupted";
    case RunVerdict::crashed:
      return "crashed";
    case RunVerdict::incomplete:
      return "incomplete";
  }
  return "incomplete";
}

std::string_view name_of(StepStatus status) noexcept {
  switch (status) {
    case StepStatus::pass:
      return "pass";
    case StepStatus::fail:
      return "fail";
    case StepStatus::warn:
      return "warn";
    case StepStatus::done:
      return "done";
    case StepStatus::skipped:
      return "skipped";
    case StepStatus::error:
      return "error";
    case StepStatus::crashed:
      return "crashed";
  }
  return "error";
}

const std::string& common_name(const RunRecord& record) noexcept {
  return record.common_name.empty() ? record.pipeline_name : record.common_name;
}

bool is_field_of_step(std::string_view key) noexcept {
  constexpr std::array<std::string_view, 18> fields{
      "id",         "uses",   "location", "plugin",  "scored",         "status",
      "reason",     "help",   "summary",  "seconds", "peak_rss_bytes", "peak_private_bytes",
      "parameters", "inputs", "outputs",  "checks",  "isolation",      "output_tail"};
  return std::ranges::find(fields, key) != fields.end();
}

}  // namespace lockstep
