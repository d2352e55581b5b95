#pragma once

#include <vector>

#include "cli/command_line.hpp"
#include "engine/executor.hpp"
#include "loader/loader.hpp"
#include "pipeline/plan.hpp"

namespace lockstep::cli {

/// PIPELINE and the options of every verb that reads one.
[[nodiscard]] PipelineRequest request_of(const Arguments& arguments);

/// --plugin-path, before the folders that are always searched. Throws CommandLineError if one of its folders is
/// missing.
[[nodiscard]] PluginLoader loader_of(const Arguments& arguments);

/// --only, --from and --to.
[[nodiscard]] RunOptions selection_of(const Arguments& arguments);

/// The plan with everything that is wrong with it and with --only, --from and --to; the plans of all selected rows go
/// to `rows`, unless null.
[[nodiscard]] PlanResult plan_of(const Arguments& arguments, PluginLoader& loader, std::vector<Plan>* rows = nullptr);

}  // namespace lockstep::cli
