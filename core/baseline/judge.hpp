#pragma once

#include <array>
#include <map>
#include <tuple>
#include <vector>

#include "baseline/baseline.hpp"

namespace lockstep {

/// What the environment of a section may name: the set-up first, by which a section is chosen, then the machine.
inline constexpr std::array baseline_set_up{"dtype", "checkpoint", "row"};
inline constexpr std::array baseline_machine{"cpu", "cpu_capability", "libtorch", "threads"};

/// How near two sides can be, from best to worst.
inline constexpr std::array ladder_levels{"bits_equal", "signed_zero", "ulp",           "close",
                                          "far",        "non_finite",  "not_comparable"};

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

/// How a run that is over stands against a baseline. Changes no verdict.
[[nodiscard]] BaselineRecord stand_of(const RunRecord& record, const Baseline& baseline, const std::string& file);
/// Keeps `stand` in the record; a run that passed and stands worse has failed.
void keep_stand(RunRecord& record, BaselineRecord stand);

/// A check that this run was to perform and did not: its step was selected, and the run did not end before it.
[[nodiscard]] bool is_gone(const BaselineEntry& entry, const RunRecord& record);

}  // namespace lockstep
