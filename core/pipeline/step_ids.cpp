#include "pipeline/step_ids.hpp"

#include <algorithm>
#include <set>

#include "pipeline/variables.hpp"

namespace lockstep {
namespace {

/// `id` in one row.
Node id_in_row(const Node& id, const MatrixValues& row) {
  static const Node::Table no_variables;
  Findings told_elsewhere;
  return Variables(no_variables, &row, told_elsewhere).resolve_id(id);
}

}  // namespace

std::vector<std::string> step_ids(const Node& document, const Matrix* matrix) {
  std::vector<std::string> ids;
  std::set<std::string> known;
  const auto add = [&](const Node& id) {
    if (id.text() != nullptr && !id.reported() && known.insert(*id.text()).second) ids.push_back(*id.text());
  };
  const auto* member = document.find("step");
  if (member == nullptr || member->value.list() == nullptr) return ids;
  for (const auto& step : *member->value.list()) {
    const auto* id = step.find("id");
    if (id == nullptr || id->value.text() == nullptr) continue;
    if (matrix == nullptr || id->value.text()->find('$') == std::string::npos) {
      add(id->value);
      continue;
    }
    for (const auto& row : matrix->rows) add(id_in_row(id->value, row.values));
  }
  return ids;
}

bool has_selected_step(const Plan& row, const PipelineRequest& request) {
  const auto has = [&row](const std::string& id) {
    return std::ranges::find(row.steps, id, &PlannedStep::id) != row.steps.end();
  };
  return (request.only.empty() || std::ranges::any_of(request.only, has)) && (!request.from || has(*request.from)) &&
         (!request.to || has(*request.to));
}

}  // namespace lockstep
