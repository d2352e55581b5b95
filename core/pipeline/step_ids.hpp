#pragma once

#include <string>
#include <vector>

#include "pipeline/matrix.hpp"
#include "pipeline/node.hpp"
#include "pipeline/plan.hpp"

namespace lockstep {

/// The ids of the merged pipeline's steps in the order of the file, those of every row where an id names an axis: what
/// `--only`, `--from`, `--to` and `--skip` may name. Without what is no id.
[[nodiscard]] std::vector<std::string> step_ids(const Node& document, const Matrix* matrix);

/// Whether `--only`, `--from` and `--to` leave a step of this row to be scored.
[[nodiscard]] bool has_selected_step(const Plan& row, const PipelineRequest& request);

}  // namespace lockstep
