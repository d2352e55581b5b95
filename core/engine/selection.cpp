#include "engine/selection.hpp"

#include <algorithm>

namespace lockstep {

std::vector<Role> select_steps(const Plan& plan, const RunOptions& options) {
  std::vector<Role> roles(plan.steps.size(), Role::not_selected);
  bool in_range = !options.from.has_value();
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const auto& id = plan.steps[i].id;
    in_range = in_range || id == options.from;
    const bool named = options.only.empty() || std::ranges::count(options.only, id) > 0;
    if (in_range && named) roles[i] = Role::scored;
    if (id == options.to) break;
  }
  // Wires lead to earlier steps only, so one pass from the end reaches everything that is needed.
  for (std::size_t i = plan.steps.size(); i-- > 0;) {
    if (roles[i] == Role::not_selected || plan.steps[i].skip) continue;
    for (const auto& wire : plan.steps[i].wires) {
      if (roles[wire.step] == Role::not_selected) roles[wire.step] = Role::needed;
    }
  }
  return roles;
}

}  // namespace lockstep
