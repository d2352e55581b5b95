#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lockstep/testing.hpp>

#include "engine/executor.hpp"
#include "engine/step_call.hpp"
#include "testing/bench_state.hpp"

namespace lockstep {
namespace {

class AnyInput final : public InPort {
 public:
  AnyInput(Step& step, const PortInfo& info) : InPort(step, info.name, info.type, info.doc, true, nullptr) {}
  ~AnyInput() = default;
};

/// Reads one output of the step on the bench, so that the engine keeps it.
struct Reader final : Step {
  explicit Reader(const PortInfo& info) : output(*this, info) {}
  void run(StepContext&) override {}
  AnyInput output;
};

/// A pipeline of the step and a reader for each of its outputs.
struct BenchPlan {
  Plan plan;
  std::vector<std::shared_ptr<Reader>> readers;
};

BenchPlan plan_of(const StepHandle& handle, const std::string& uses, const PlannedEnvironment& environment) {
  BenchPlan result;
  result.plan.name = "bench";
  result.plan.environment = environment;
  result.plan.steps.push_back(
      {.id = "bench", .uses = uses, .skip = {}, .handle = handle, .parameters = {}, .wires = {}});
  for (const auto* output : handle.step->declarations().outputs) {
    const auto& info = output->info();
    auto reader = std::make_shared<Reader>(info);
    PlannedStep step{
        .id = "reader of " + info.name, .uses = "reader", .skip = {}, .handle = {}, .parameters = {}, .wires = {}};
    step.handle = StepHandle{.step = reader, .file = {}, .build_id = {}};
    step.wires.push_back({.input = info.name, .step = 0, .output = info.name});
    result.plan.steps.push_back(std::move(step));
    result.readers.push_back(std::move(reader));
  }
  return result;
}

/// Writes the step's reports down, and interrupts the run behind one of them.
class ProgressNotes final : public RunObserver {
 public:
  ProgressNotes(std::vector<std::string>& notes, std::optional<std::size_t> last) : notes_(notes), last_(last) {}

  void step_progress(std::size_t, std::int64_t done, std::int64_t total, std::string_view unit) override {
    notes_.push_back(fmt::format("{} {} of {}", unit, done, total));
    if (notes_.size() == last_) interrupted_ = true;
  }
  [[nodiscard]] const std::atomic<bool>& interrupted() const { return interrupted_; }

 private:
  std::vector<std::string>& notes_;
  std::optional<std::size_t> last_;
  std::atomic<bool> interrupted_ = false;
};

}  // namespace

StepBench& StepBench::interrupt_after(std::size_t report) {
  state_->interrupt_after = report;
  return *this;
}

StepBench& StepBench::run() {
  auto& state = *state_;
  if (state.record) throw Error{"the bench has run already", "one bench is one run: make another"};
  if (const auto found = problems(); !found.empty())
    throw Error{fmt::format("the step does not run: {}", fmt::join(found, "; "))};
  const auto& declared = state.handle.step->declarations();
  for (const auto* input : declared.inputs) {
    const auto& info = input->info();
    if (!input->has_value() && !info.optional)
      throw Error{fmt::format("input '{}' ({}) has no value", info.name, info.type), "bind it before the run"};
  }
  auto bench = plan_of(state.handle, state.uses, state.environment);
  ProgressNotes notes(state.progress, state.interrupt_after);
  RunOptions options;
  options.interrupted = &notes.interrupted();
  state.record = execute(bench.plan, options, {&notes});
  auto& result = state.record->steps.front();
  if (const auto& tail = result.output_tail; !tail.empty())  // recorded() tells all that the step recorded
    result.extra.emplace_back("output_tail", Value::Array(tail.begin(), tail.end()));
  for (std::size_t i = 0; i < declared.outputs.size(); ++i) {
    auto& output = *declared.outputs[i];
    output.publish(bench.readers[i]->output.value());
    output.visit([&](std::string_view name, const Tensor& tensor) {
      state.tensors.emplace_back(dump_name(output.info().name, name), tensor);
    });
  }
  return *this;
}

}  // namespace lockstep
