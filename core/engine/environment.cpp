#include "engine/environment.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include "engine/run_context.hpp"

namespace lockstep {
namespace {

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

const EnvironmentHook* hook_of(const PlannedStep& step) {
  if (!step.handle || step.handle->entry == nullptr || step.handle->entry->environment == nullptr) return nullptr;
  return step.handle->entry->environment();
}

std::vector<const EnvironmentHook*> hooks_of(const Plan& plan) {
  std::vector<const EnvironmentHook*> hooks;
  for (const auto& step : plan.steps) {
    const auto* hook = hook_of(step);
    if (hook != nullptr && std::ranges::count(hooks, hook) == 0) hooks.push_back(hook);
  }
  return hooks;
}

void configure(const std::vector<const EnvironmentHook*>& hooks, int threads, std::uint64_t seed,
               const std::string& kernels) {
  const EnvironmentSettings settings{threads, seed, kernels.c_str()};
  for (const auto* hook : hooks) hook->configure(&settings);
}

void describe_libraries(const std::vector<const EnvironmentHook*>& hooks, RunRecord& record) {
  const auto add = [](void* fields, const char* key, const char* value) {
    set_field(*static_cast<decltype(record.environment)*>(fields), key, value);
  };
  for (const auto* hook : hooks) hook->describe(add, &record.environment);
}

void describe_environment(const Plan& plan, const std::vector<const EnvironmentHook*>& hooks, RunRecord& record) {
  set_field(record.environment, "cpu", cpu_model());
  const auto& threads = plan.environment.threads;
  set_field(record.environment, "threads", threads ? Value(*threads) : Value("auto"));
  set_field(record.environment, "seed", static_cast<std::int64_t>(plan.environment.seed));
  describe_libraries(hooks, record);
}

}  // namespace lockstep
