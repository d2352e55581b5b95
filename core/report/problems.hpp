#pragma once

#include <string>
#include <vector>

#include "engine/record.hpp"

namespace lockstep {

/// One thing that a reader of a report wants to know first: of a check, of a step that could not compute, of the
/// baseline, or of the run as a whole. Pointers go into the record.
struct Problem {
  enum class Kind { error, failure, warning };
  Kind kind = Kind::error;
  std::string word;                  ///< "ERROR", "FAIL", "vacuous", "worse", "warn"
  const StepRecord* step = nullptr;  ///< null: the run
  const CheckResult* check = nullptr;
  const Diagnostic* diagnostic = nullptr;          ///< with neither step nor check
  const BaselineRecord::Finding* worse = nullptr;  ///< with its step, if the run has it
};

/// Everything that is wrong, the most important first: errors, required checks that fail, checks worse than the
/// baseline, vacuous ones, warnings; each kind in the order of the pipeline. What a failing step did not come to and
/// what fails in a step that is not scored is left out.
[[nodiscard]] std::vector<Problem> problems_of(const RunRecord& record);

/// "compare same_bits: 1 of 3 differ", without the lines that may follow.
[[nodiscard]] std::string line_of(const Problem& problem);

/// A problem in words, which need the record no more.
[[nodiscard]] RowFailure in_words(const Problem& problem);

/// The title of a problem: "compare: matches layer 3".
[[nodiscard]] std::string title_of(const RowFailure& failure);

/// The diagnostic of a step that ended in ERROR or crashed: the step itself tells it too.
[[nodiscard]] bool is_told_by_step(const Diagnostic& diagnostic);

}  // namespace lockstep
