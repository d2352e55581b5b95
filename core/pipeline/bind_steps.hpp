#pragma once

#include "pipeline/findings.hpp"
#include "pipeline/node.hpp"
#include "pipeline/plan.hpp"

namespace lockstep {

/// Reads the steps of a document whose variables are replaced, asks the catalog for each, binds its inputs, checks and
/// parameters, and adds it to `plan`.
void bind_steps(const Node& document, const PipelineRequest& request, StepCatalog& catalog, Plan& plan,
                Findings& findings);

}  // namespace lockstep
