#pragma once

#include <vector>

#include "engine/executor.hpp"

namespace lockstep {

enum class Role {
  scored,  ///< selected: its verdict counts
  needed,  ///< runs because a scored step reads from it, directly or not; only its ERROR counts
  not_selected,
};

/// The role of each step of `plan` under --only, --from and --to (their intersection; all steps if none is given).
[[nodiscard]] std::vector<Role> select_steps(const Plan& plan, const RunOptions& options);

}  // namespace lockstep
