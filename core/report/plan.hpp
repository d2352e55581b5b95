#pragma once

#include <string>

#include "pipeline/plan.hpp"

namespace lockstep {

/// Steps with their parameters, wires and checks, each with where it comes from.
[[nodiscard]] LOCKSTEP_API std::string plan_text(const Plan& plan);
/// The same as one JSON document.
[[nodiscard]] LOCKSTEP_API std::string plan_json(const Plan& plan);

}  // namespace lockstep
