#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pipeline/plan.hpp"

namespace lockstep {

/// Steps with their parameters, wires and checks, each with where it comes from.
[[nodiscard]] LOCKSTEP_API std::string plan_text(const Plan& plan);
/// The same as one JSON document.
[[nodiscard]] LOCKSTEP_API std::string plan_json(const Plan& plan);

/// The names of the rows that are selected, one a line.
[[nodiscard]] LOCKSTEP_API std::string rows_text(const std::vector<MatrixRow>& rows, std::size_t all);
/// Several rows as one JSON document: what they have in common, and `rows`. `all` has what they have in common.
[[nodiscard]] LOCKSTEP_API std::string plan_json(const Plan& all, const std::vector<Plan>& rows);

}  // namespace lockstep
