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

/// --only, --from, --to; what is wrong with them is added to `result`, so that it is shown with the rest.
[[nodiscard]] RunOptions selection_of(const Arguments& arguments, PlanResult& result);

}  // namespace lockstep::cli
