#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/binding.hpp"
#include "pipeline/findings.hpp"
#include "pipeline/node.hpp"
#include "pipeline/plan.hpp"

namespace lockstep {

/// `isolation` and `time_limit` of a step; what is wrong with them is reported.
[[nodiscard]] std::optional<PlannedIsolation> read_isolation(const StepSource& source, const Node& step,
                                                             Findings& findings);

/// Reports every output of an isolated step that cannot leave its process and has a reader outside.
void check_isolation(const Plan& plan, Findings& findings);

/// What a step in a process of its own needs there.
struct Crossing {
  /// Input `input` of step `reader` gets output `output` of step `step`.
  struct Wire {
    std::size_t reader;
    std::string input;
    std::size_t step;
    std::string output;
    const Transfer* transfer;  ///< how the result is sent; null: `step` is computed again
  };
  std::vector<std::size_t> computed_again;  ///< steps that run in the new process before it, in order
  std::vector<Wire> wires;
};

/// How the inputs of step `index` come into its process. A result whose type can be sent is sent. One that cannot is
/// computed again by its step, whose inputs come in the same way.
[[nodiscard]] LOCKSTEP_API Crossing crossing_of(const Plan& plan, std::size_t index);
/// The same without the wires that carry nothing, and without the steps that are needed for those alone.
[[nodiscard]] Crossing without_empty_wires(const Crossing& crossing, std::size_t index,
                                           const std::function<bool(const Crossing::Wire&)>& is_empty);

}  // namespace lockstep
