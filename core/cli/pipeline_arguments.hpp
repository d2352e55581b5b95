#pragma once

#include <vector>

#include "cli/command_line.hpp"
#include "engine/executor.hpp"
#include "loader/loader.hpp"
#include "pipeline/plan.hpp"

namespace lockstep::cli {

/// PIPELINE, --config, --set and --skip.
[[nodiscard]] PipelineRequest request_of(const Arguments& arguments);

/// --plugin-path, before the folders that are always searched. Throws CommandLineError if one of its folders is
/// missing.
[[nodiscard]] PluginLoader loader_of(const Arguments& arguments);

/// --only, --from, --to; what is wrong with them is added to `diagnostics`.
[[nodiscard]] RunOptions selection_of(const Arguments& arguments, const Plan& plan,
                                      std::vector<Diagnostic>& diagnostics);

/// A visitor of `make_plan` that looks at --only, --from and --to, so that what is wrong is shown with the rest.
[[nodiscard]] PlanVisitor selection_check(const Arguments& arguments);

}  // namespace lockstep::cli
