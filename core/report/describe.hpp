#pragma once

#include <string>
#include <vector>

#include "pipeline/plan.hpp"

namespace lockstep {

/// What a step declares: the source of `lockstep describe` and of the step reference.
struct StepDescription {
  std::string name;
  std::string summary;
  std::vector<PortInfo> inputs;
  std::vector<PortInfo> outputs;
  std::vector<ParamInfo> parameters;
  std::vector<CheckInfo> checks;
};
[[nodiscard]] LOCKSTEP_API StepDescription description_of(const StepHandle& step);

/// "integer, 1 or more, in tokens, required"
[[nodiscard]] LOCKSTEP_API std::string constraint_text(const ParamInfo& parameter);

[[nodiscard]] LOCKSTEP_API std::string describe_text(const StepDescription& step);
[[nodiscard]] LOCKSTEP_API std::string describe_markdown(const StepDescription& step);
[[nodiscard]] LOCKSTEP_API std::string describe_json(const StepDescription& step);

}  // namespace lockstep
