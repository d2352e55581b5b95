#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "engine/executor.hpp"
#include "engine/run_context.hpp"
#include "engine/step_call.hpp"
#include "engine/worker_message.hpp"
#include "pipeline/isolation.hpp"
#include "pipeline/plan.hpp"

namespace lockstep {

/// What is known of an isolated step before the run, while every step object is there.
struct IsolatedPlan {
  Crossing crossing;
  std::map<std::size_t, WorkerStep> steps;  ///< it and those that are computed again, without wires
};
[[nodiscard]] IsolatedPlan isolated_plan_of(const Plan& plan, std::size_t index);

/// What the call of an isolated step needs of the run.
struct IsolatedCall {
  Plan& plan;
  std::size_t index;  ///< of the step
  const IsolatedPlan& isolated;
  /// The result that a wire carries; null if it was not published. Wires whose producer is computed again are asked for
  /// by `is_empty` alone.
  std::function<std::shared_ptr<const void>(const Crossing::Wire&)> value_of;
  std::function<bool(const Crossing::Wire&)> is_empty;
  const ThreadSetting& threads;
  RunContext& context;
  const std::vector<RunObserver*>& observers;
  const RunOptions& options;
};

/// Runs a step in a process of its own and leaves its step object as if it had run here: checks have their entries,
/// outputs their values, `context` has heard what the step said. An output that cannot be sent is described in
/// `kept_outputs`. Throws only what observers throw.
[[nodiscard]] StepCall call_isolated(const IsolatedCall& call);

}  // namespace lockstep
