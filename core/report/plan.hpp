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

/// The rows as the matrix of a GitHub Actions job, on one line:
/// {"include":[{"row":"dtype=float32","dtype":"float32"}]}. Source: docs.github.com, "Running variations of jobs in a
/// workflow".
[[nodiscard]] LOCKSTEP_API std::string rows_github(const std::vector<MatrixRow>& rows);

/// `add_test` commands for a file that ctest includes: a test for each row, or one for a pipeline without rows, called
/// `prefix` or `prefix.row`. `command` runs the pipeline; `--row` is added, and `{test}` in a word is the test's name.
/// The names are in the list `lockstep_tests`.
[[nodiscard]] LOCKSTEP_API std::string rows_ctest(const std::vector<MatrixRow>& rows, const std::string& prefix,
                                                  const std::vector<std::string>& command);

}  // namespace lockstep
