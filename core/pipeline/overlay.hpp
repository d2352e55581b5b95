#pragma once

#include <string>
#include <vector>

#include "pipeline/findings.hpp"
#include "pipeline/node.hpp"

namespace lockstep {

/// All `--set` arguments as one overlay; a later argument wins.
[[nodiscard]] Node overlay_of_sets(const std::vector<std::string>& sets, Findings& findings);

/// Lays a checked overlay over a checked pipeline: tables merge key by key, `required` lists are added.
/// An overlay that sets `uses` or `plugin` of a step starts its `with`, `checks` and `inputs` anew; with `uses` alone
/// the step's `plugin` goes too, as it holds another step.
void merge_overlay(Node& pipeline, const Node& overlay, Findings& findings);

}  // namespace lockstep
