#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/record.hpp"

namespace lockstep {

/// One thing that two records do not agree on.
struct RecordChange {
  enum class Group {
    verdict,      ///< of the run, a step, a check
    presence,     ///< steps and checks that only one record has
    value,        ///< what was measured
    setup,        ///< bounds, levels, parameters, inputs, outputs, plugins
    environment,  ///< machine, libraries, pipeline file, overrides
    information,  ///< times, memory, places in files: never a difference
  };
  Group group = Group::verdict;
  std::string step;                    ///< "" for the run
  std::string check;                   ///< "" for a step
  std::optional<std::string> subject;  ///< of the check
  std::string field;                   ///< "verdict", "bound.max", "statistics.max_abs", "parameters.dtype"
  std::optional<Value> before;         ///< none: the first record does not have it
  std::optional<Value> after;
  std::string row = {};  ///< inside of which row of two summaries; "": of the records themselves
};

[[nodiscard]] std::string_view name_of(RecordChange::Group group);

/// after / before, where both are numbers that have one.
[[nodiscard]] LOCKSTEP_API std::optional<double> factor_of(const RecordChange& change);

/// What moved from one record to the other, by group, in each in the order of the first record's steps. Checks belong
/// together by step, name and subject, and those that have all three in common by their order.
[[nodiscard]] LOCKSTEP_API std::vector<RecordChange> diff_records(const RunRecord& before, const RunRecord& after);

/// No change but of `information`.
[[nodiscard]] LOCKSTEP_API bool is_equal(const std::vector<RecordChange>& changes);

}  // namespace lockstep
