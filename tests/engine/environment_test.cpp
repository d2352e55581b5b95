#include "catch.hpp"
#include "engine/toy_plan.hpp"

using namespace toy;

namespace {

/// A hook that notes what the engine asks of it.
struct HookLog {
  std::vector<std::tuple<int, std::uint64_t, std::string>> configured;
  int described = 0;
  int around = 0;
};
HookLog hook_log;

const EnvironmentHook hook{
    [](const EnvironmentSettings* s) { hook_log.configured.emplace_back(s->threads, s->seed, s->kernels); },
    [](void (*field)(void*, const char*, const char*), void* context) {
      field(context, "libtorch", "9.9");
      field(context, "kernels", std::to_string(hook_log.described++).c_str());
    },
    [](void (*body)(void*), void* context) {
      ++hook_log.around;
      body(context);
    }};

const PluginEntry entry_with_hook{LOCKSTEP_STAMP, "toy.step", "", nullptr, nullptr, [] { return &hook; }};

std::string field(const RunRecord& record, const std::string& key) {
  for (const auto& [name, value] : record.environment) {
    if (name == key) return to_text(value);
  }
  return "absent";
}

}  // namespace

TEST_CASE("a plugin's environment hook is configured once, described in the record and wraps each run") {
  hook_log = {};
  PlanBuilder builder;
  builder.add("a", pass).add("b", fail).add("no_hook", pass);
  builder.plan.environment.seed = 5;
  builder.plan.environment.kernels = "torch";
  builder.plan.steps[0].handle->entry = &entry_with_hook;
  builder.plan.steps[1].handle->entry = &entry_with_hook;
  const auto record = builder.run();
  CHECK(hook_log.configured == std::vector<std::tuple<int, std::uint64_t, std::string>>{{1, 5, "torch"}});
  CHECK(field(record, "kernels") == "\"3\"");  // as it is after the last of three steps
  CHECK(hook_log.around == 2);
  CHECK(field(record, "libtorch") == "\"9.9\"");
  CHECK(field(record, "threads") == "1");
}

TEST_CASE("with threads auto exactly one step sets the count and the record names it") {
  hook_log = {};
  PlanBuilder builder;
  builder
      .add("setter",
           [](Toy& t, StepContext& c) {
             CHECK(c.threads() == 0);
             c.set_threads(3);
             CHECK(c.threads() == 3);
             pass(t, c);
           })
      .add("second", [](Toy&, StepContext& c) { c.set_threads(2); });
  builder.plan.environment.threads.reset();
  builder.plan.steps[0].handle->entry = &entry_with_hook;
  const auto record = builder.run();
  CHECK(hook_log.configured ==
        std::vector<std::tuple<int, std::uint64_t, std::string>>{{0, 0, "auto"}, {3, 0, "auto"}});
  CHECK(field(record, "threads") == "3");
  CHECK(field(record, "threads_set_by") == "\"setter\"");
  CHECK(statuses(record) == "setter pass, second error (the thread count was set by step 'setter' already)");
}

TEST_CASE("the thread count cannot be set once LibTorch was used, nor where the pipeline fixes it") {
  PlanBuilder late;
  late.add("user", pass).add("setter", [](Toy&, StepContext& c) { c.set_threads(3); });
  late.plan.environment.threads.reset();
  late.plan.steps[0].handle->entry = &entry_with_hook;
  CHECK(statuses(late.run()) == "user pass, setter error (the thread count is set after a step has used LibTorch)");

  PlanBuilder fixed;
  fixed.add("setter", [](Toy&, StepContext& c) { c.set_threads(3); });
  CHECK(statuses(fixed.run()) == "setter error (the step sets the thread count, but the pipeline fixes it at 1)");
}
