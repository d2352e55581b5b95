#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "baseline/baseline.hpp"

namespace lockstep {

/// Step, check and subject, and the number among entries that have all three in common.
using BaselineKey = std::tuple<std::string, std::string, std::string, std::size_t>;

/// The check entries of a run that a baseline is about: with a verdict, of scored steps.
[[nodiscard]] std::map<BaselineKey, const CheckResult*> checks_by_key(const RunRecord& record);
[[nodiscard]] std::vector<BaselineKey> keys_of(const std::vector<BaselineEntry>& entries);

[[nodiscard]] BaselineEntry entry_of(const std::string& step, const CheckResult& check);

/// The section for a run: of its set-up, and if there is one of its machine too.
struct ChosenSection {
  const BaselineSection* section = nullptr;  ///< null: nothing of this set-up
  bool same_machine = false;
};
[[nodiscard]] ChosenSection choose_section(const Baseline& baseline, const RunRecord& record);

/// What became worse, in words; none if nothing did.
[[nodiscard]] std::optional<std::string> worse_than(const BaselineEntry& entry, const CheckResult& check,
                                                    const BaselineMargin& margin, bool same_machine);
[[nodiscard]] std::optional<std::string> better_than(const BaselineEntry& entry, const CheckResult& check);

/// A check that this run was to perform and did not: its step was selected, and the run did not end before it.
[[nodiscard]] bool is_gone(const BaselineEntry& entry, const RunRecord& record);

}  // namespace lockstep
