#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lockstep/testing.hpp>

#include "engine/record.hpp"
#include "pipeline/plan.hpp"

namespace lockstep {

/// What a bench knows: the step, what it was given, and after the run its record.
struct StepBench::State {
  StepHandle handle;
  std::string uses;
  Value::Table with;
  Value::Table checks;
  PlannedEnvironment environment;
  std::optional<std::size_t> interrupt_after;
  std::vector<std::string> progress;
  std::optional<RunRecord> record;
  std::vector<std::pair<std::string, Tensor>> tensors;

  /// The record of the step. Throws Error before the run.
  [[nodiscard]] const StepRecord& result() const;
};

/// The member of that name; Error with the nearest one if there is none. `kind` is "input", "check", …
template <class Member>
[[nodiscard]] Member& member_named(const std::vector<Member*>& members, std::string_view kind, std::string_view name) {
  std::vector<std::string> names;
  for (auto* member : members) {
    if (member->info().name == name) return *member;
    names.push_back(member->info().name);
  }
  Diagnostic diagnostic;
  diagnostic.did_you_mean = did_you_mean(name, names);
  diagnostic.message = fmt::format("the step has no {} '{}'", kind, name);
  diagnostic.message +=
      diagnostic.did_you_mean.empty()
          ? fmt::format("; it has: {}", names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")))
          : fmt::format(", did you mean '{}'?", diagnostic.did_you_mean);
  throw Error{std::move(diagnostic)};
}

}  // namespace lockstep
