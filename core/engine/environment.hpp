#pragma once

#include <vector>

#include "engine/record.hpp"
#include "pipeline/plan.hpp"

namespace lockstep {

/// The distinct environment hooks of a plan's plugins, in order.
[[nodiscard]] std::vector<const EnvironmentHook*> hooks_of(const Plan& plan);
/// The hook of one plugin, null if it has none.
[[nodiscard]] const EnvironmentHook* hook_of(const PlannedStep& step);

/// Gives the pipeline's settings to every hook. threads 0: not known yet.
void configure(const std::vector<const EnvironmentHook*>& hooks, int threads, std::uint64_t seed,
               const std::string& kernels);

/// Writes what the hooks' libraries tell of themselves so far into the record's "environment".
void describe_libraries(const std::vector<const EnvironmentHook*>& hooks, RunRecord& record);
/// Writes what is known of the machine, the settings and the hooks' libraries into the record's "environment".
void describe_environment(const Plan& plan, const std::vector<const EnvironmentHook*>& hooks, RunRecord& record);

}  // namespace lockstep
