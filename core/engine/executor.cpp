#include "engine/executor.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <lockstep/safetensors.hpp>

#include "check/parallel.hpp"
#include "engine/environment.hpp"
#include "engine/isolated_step.hpp"
#include "engine/results.hpp"
#include "engine/run_context.hpp"
#include "engine/selection.hpp"
#include "engine/step_call.hpp"
#include "engine/verdict.hpp"
#include "pipeline/exit_code.hpp"
#include "process/process_memory.hpp"

namespace lockstep {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// What a later step must know about one that is over.
struct Outcome {
  bool skipped_itself = false;
  std::set<std::string> unset_optional_outputs;
  std::set<std::string> kept_outputs;  ///< set, in the process of the step alone
  std::string cause;  ///< why readers are skipped, after ERROR or SKIPPED: the first step of the chain and its reason
};

/// One run of one plan.
class Execution {
 public:
  Execution(Plan& plan, const RunOptions& options, const std::vector<RunObserver*>& observers)
      : plan_(plan),
        options_(options),
        observers_(observers),
        roles_(select_steps(plan, options)),
        outcomes_(plan.steps.size()) {}

  RunRecord run();

 private:
  void prepare_record();
  void prepare_environment();
  void announce_readers();
  void run_step(std::size_t i);
  std::optional<std::string> reason_not_to_run(std::size_t i) const;
  std::optional<std::string> bind_inputs(std::size_t i);
  void call(std::size_t i);
  StepCall call_in_process(std::size_t i, RunContext& context);
  void finish(std::size_t i, const RunContext& context, const StepCall& call);
  void crash(std::size_t i, const Crash& crash);
  void skip(std::size_t i, std::string reason, std::string cause);
  void fail_with_error(std::size_t i, Diagnostic diagnostic);
  std::vector<std::string> publish_outputs(std::size_t i, const StepCall& call);
  void dump(const StepRecord& record, const std::vector<std::pair<std::string, Tensor>>& tensors);
  void release_inputs(std::size_t i);
  bool interrupted() const { return options_.interrupted != nullptr && options_.interrupted->load(); }

  Plan& plan_;
  const RunOptions& options_;
  const std::vector<RunObserver*>& observers_;
  std::vector<Role> roles_;
  std::vector<Outcome> outcomes_;
  std::vector<const EnvironmentHook*> hooks_;
  ThreadSetting threads_;
  Results results_;
  std::map<std::size_t, IsolatedPlan> isolated_;
  RunRecord record_;
  RunFacts facts_;
  std::optional<std::string> stopped_by_;  ///< --fail-fast: the step that failed
};

RunRecord Execution::run() {
  const auto start = Clock::now();
  prepare_record();
  prepare_environment();
  announce_readers();
  for (auto* observer : observers_) observer->run_started(record_);
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    run_step(i);
    if (plan_.steps[i].handle) plan_.steps[i].handle->step.reset();  // with what its inputs and members hold
    release_inputs(i);
    record_.seconds = seconds_since(start);
    for (auto* observer : observers_) observer->step_finished(record_, i);
  }
  facts_.interrupted = interrupted();
  conclude(record_, facts_);
  record_.seconds = seconds_since(start);
  for (const auto& step : record_.steps) {
    record_.peak_rss_bytes = std::max(record_.peak_rss_bytes, step.peak_rss_bytes);
    record_.peak_private_bytes = std::max(record_.peak_private_bytes, step.peak_private_bytes);
  }
  for (auto* observer : observers_) observer->run_finished(record_);
  return std::move(record_);
}

void Execution::prepare_record() {
  record_ = record_of(plan_);
  record_.row = plan_.row;
  record_.exit_code = exit_code::crashed;  // what stays on disk if a step takes the process with it
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    const auto& step = plan_.steps[i];
    StepRecord record{
        .id = step.id, .uses = step.uses, .location = step.location.to_string(), .scored = roles_[i] == Role::scored};
    if (step.handle) {
      record.plugin_file = step.handle->file.string();
      record.build_id = step.handle->build_id;
      for (const auto* check : step.handle->step->declarations().checks) {
        const auto level = check->settings().level;
        const bool turned_off = level == Level::off && check->info().level == Level::require;
        facts_.declares_required_checks |= record.scored && (level == Level::require || turned_off);
      }
    }
    for (const auto& parameter : step.parameters) record.parameters.emplace_back(parameter.name, parameter.value);
    for (const auto& wire : step.wires) {
      record.inputs.emplace_back(wire.input, plan_.steps[wire.step].id + "." + wire.output);
    }
    record_.steps.push_back(std::move(record));
  }
}

void Execution::prepare_environment() {
  hooks_ = hooks_of(plan_);
  threads_.threads = plan_.environment.threads;
  threads_.automatic = !threads_.threads.has_value();
  threads_.apply = [this](int threads) {
    set_check_threads(threads);
    configure(hooks_, threads, plan_.environment.seed, plan_.environment.kernels);
  };
  threads_.apply(threads_.threads.value_or(0));
  describe_environment(plan_, hooks_, record_);
}

void Execution::announce_readers() {
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    for (const auto& wire : plan_.steps[i].wires) results_.expect_reader({wire.step, wire.output});
    if (!plan_.steps[i].isolation) continue;
    const auto& isolated = isolated_.emplace(i, isolated_plan_of(plan_, i)).first->second;
    for (const auto& wire : isolated.crossing.wires) results_.expect_reader({wire.step, wire.output});
  }
}

void Execution::release_inputs(std::size_t i) {
  for (const auto& wire : plan_.steps[i].wires) results_.reader_done({wire.step, wire.output});
  const auto isolated = isolated_.find(i);
  if (isolated == isolated_.end()) return;
  for (const auto& wire : isolated->second.crossing.wires) results_.reader_done({wire.step, wire.output});
}

std::optional<std::string> Execution::reason_not_to_run(std::size_t i) const {
  const auto& step = plan_.steps[i];
  if (roles_[i] == Role::not_selected) return "not selected";
  if (step.skip) return *step.skip;
  if (interrupted()) return "interrupted";
  if (stopped_by_) return fmt::format("--fail-fast after '{}'", *stopped_by_);
  return std::nullopt;
}

/// Binds every input that has a value; a reason if the step cannot run.
std::optional<std::string> Execution::bind_inputs(std::size_t i) {
  const auto& step = plan_.steps[i];
  for (auto* input : step.handle->step->declarations().inputs) {
    const auto wire = std::ranges::find(step.wires, input->info().name, &PlannedWire::input);
    if (wire == step.wires.end()) continue;  // optional and unbound; the binder saw to the others
    const auto& producer = record_.steps[wire->step];
    const auto& outcome = outcomes_[wire->step];
    const bool over = producer.status == StepStatus::error || producer.status == StepStatus::crashed ||
                      producer.status == StepStatus::skipped;
    if (over && !(outcome.skipped_itself && input->info().optional)) return outcome.cause;
    auto value = results_.read({wire->step, wire->output});
    if (value == nullptr && !over) {
      const bool may_be_empty = input->info().optional && outcome.unset_optional_outputs.contains(wire->output);
      const bool is_kept = outcome.kept_outputs.contains(wire->output);  // this step is isolated and computes it again
      if (!may_be_empty && !is_kept) return fmt::format("'{}' did not publish '{}'", producer.id, wire->output);
    }
    input->bind(std::move(value));
  }
  return std::nullopt;
}

void Execution::skip(std::size_t i, std::string reason, std::string cause) {
  auto& record = record_.steps[i];
  record.status = StepStatus::skipped;
  record.reason = std::move(reason);
  outcomes_[i].cause = std::move(cause);
}

void Execution::run_step(std::size_t i) {
  const auto& id = plan_.steps[i].id;
  if (auto reason = reason_not_to_run(i)) {
    auto cause = fmt::format("'{}' was skipped: {}", id, *reason);
    return skip(i, std::move(*reason), std::move(cause));
  }
  if (auto reason = bind_inputs(i)) {
    auto cause = *reason;
    return skip(i, std::move(*reason), std::move(cause));
  }
  for (auto* observer : observers_) observer->step_started(record_, i);
  call(i);
  const auto status = record_.steps[i].status;
  const bool failed = status == StepStatus::error || status == StepStatus::crashed ||
                      (status == StepStatus::fail && record_.steps[i].scored);
  if (options_.fail_fast && failed) stopped_by_ = id;
}

void Execution::call(std::size_t i) {
  auto& planned = plan_.steps[i];
  RunContext context(record_, i, threads_, options_.interrupted, observers_);
  record_.steps[i].isolated = planned.isolation.has_value();
  MemoryWatch watch;
  const auto start = Clock::now();
  const auto call = planned.isolation ? call_in_process(i, context) : call_step(planned, context);
  if (hook_of(planned) != nullptr) threads_.libtorch_used = true;
  record_.steps[i].seconds = seconds_since(start);
  if (!planned.isolation) describe_libraries(hooks_, record_);
  finish(i, context, call);
  const auto memory = call.memory.value_or(watch.peak());
  record_.steps[i].peak_rss_bytes = memory.rss_bytes;
  record_.steps[i].peak_private_bytes = memory.private_bytes;
}

StepCall Execution::call_in_process(std::size_t i, RunContext& context) {
  const auto& isolated = isolated_.at(i);
  const auto value_of = [this](const Crossing::Wire& wire) { return results_.read({wire.step, wire.output}); };
  const auto is_empty = [&](const Crossing::Wire& wire) {
    return value_of(wire) == nullptr && !outcomes_[wire.step].kept_outputs.contains(wire.output);
  };
  return call_isolated({.plan = plan_,
                        .index = i,
                        .isolated = isolated,
                        .value_of = value_of,
                        .is_empty = is_empty,
                        .threads = threads_,
                        .context = context,
                        .observers = observers_,
                        .options = options_});
}

void Execution::finish(std::size_t i, const RunContext& context, const StepCall& call) {
  auto& record = record_.steps[i];
  const auto& declared = plan_.steps[i].handle->step->declarations();
  const auto keep_without_verdict = [&record, &declared] {
    for (const auto* check : declared.checks) {
      for (auto result : check->results()) {
        result.verdict.reset();
        record.checks.push_back(std::move(result));
      }
    }
  };
  if (call.crash) return crash(i, *call.crash);
  if (call.interrupted) return skip(i, "interrupted", fmt::format("'{}' was skipped: interrupted", record.id));
  if (call.failure) {
    keep_without_verdict();
    return fail_with_error(i, *call.failure);
  }
  if (const auto& reason = context.skip_reason()) {
    outcomes_[i].skipped_itself = true;
    return skip(i, *reason, fmt::format("'{}' was skipped: {}", record.id, *reason));
  }

  bool any_active = false;
  for (auto* check : declared.checks) {
    const bool performed = !check->results().empty();
    if (check->settings().level == Level::off) continue;
    any_active = true;
    facts_.performed_required_check |= record.scored && performed && check->settings().level == Level::require;
    check->close_if_never_performed();
  }
  std::vector<CheckResult> checks;
  for (const auto* check : declared.checks)
    checks.insert(checks.end(), check->results().begin(), check->results().end());
  const auto status = any_active ? status_of(checks) : StepStatus::done;
  const auto missing = publish_outputs(i, call);
  const bool failed = std::ranges::count(checks, Verdict::fail, &CheckResult::verdict) > 0;
  if (!missing.empty() && !failed) {
    keep_without_verdict();
    return fail_with_error(i, {.code = "S003",
                               .message = fmt::format("did not publish '{}' and failed no check", missing.front()),
                               .help = "set the output, declare it optional, or fail a check that says why"});
  }
  record.checks = std::move(checks);
  record.status = status;
}

void Execution::crash(std::size_t i, const Crash& crash) {
  auto& record = record_.steps[i];
  record.status = StepStatus::crashed;
  record.reason = crash.reason;
  if (!crash.help.empty()) record.help = crash.help;
  record.output_tail = crash.output_tail;
  outcomes_[i].cause = fmt::format("'{}' crashed", record.id);
  record_.diagnostics.push_back({.code = crash.code,
                                 .message = fmt::format("step '{}' {}", record.id, crash.reason),
                                 .location = plan_.steps[i].location,
                                 .help = crash.help});
}

void Execution::fail_with_error(std::size_t i, Diagnostic diagnostic) {
  auto& record = record_.steps[i];
  record.status = StepStatus::error;
  record.reason = diagnostic.message;
  if (!diagnostic.help.empty()) record.help = diagnostic.help;
  if (!diagnostic.did_you_mean.empty())
    record.help = fmt::format("did you mean '{}'?{}{}", diagnostic.did_you_mean, record.help ? " " : "",
                              record.help.value_or(""));
  record.outputs.clear();
  outcomes_[i].cause = fmt::format("'{}' ended in ERROR", record.id);
  diagnostic.message = fmt::format("step '{}': {}", record.id, diagnostic.message);
  if (diagnostic.location.source == nullptr) diagnostic.location = plan_.steps[i].location;
  record_.diagnostics.push_back(std::move(diagnostic));
}

/// Describes, dumps and hands on the outputs; the names of non-optional ones that are unset.
std::vector<std::string> Execution::publish_outputs(std::size_t i, const StepCall& call) {
  auto& record = record_.steps[i];
  std::vector<std::string> missing;
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (auto* output : plan_.steps[i].handle->step->declarations().outputs) {
    const auto& info = output->info();
    if (!output->has_value()) {
      const auto kept = std::ranges::find(call.kept_outputs, info.name, &OutputRecord::name);
      if (kept != call.kept_outputs.end()) {
        outcomes_[i].kept_outputs.insert(info.name);
        record.outputs.push_back(*kept);
      } else if (info.optional) {
        outcomes_[i].unset_optional_outputs.insert(info.name);
      } else {
        missing.push_back(info.name);
      }
      continue;
    }
    OutputRecord described{.name = info.name, .type = info.type, .tensors = {}};
    output->visit([&](std::string_view name, const Tensor& tensor) {
      described.tensors.push_back({std::string(name), tensor.dtype(), tensor.sizes()});
      tensors.emplace_back(dump_name(info.name, name), tensor);
    });
    record.outputs.push_back(std::move(described));
    results_.publish({i, info.name}, output->take());
  }
  tensors.insert(tensors.end(), call.kept_tensors.begin(), call.kept_tensors.end());
  if (!options_.dump.empty() && !tensors.empty()) dump(record, tensors);
  return missing;
}

void Execution::dump(const StepRecord& record, const std::vector<std::pair<std::string, Tensor>>& tensors) {
  const auto file = options_.dump / (record.id + ".safetensors");
  try {
    std::filesystem::create_directories(options_.dump);
    write_safetensors(file, tensors, {{"step", record.id}, {"uses", record.uses}});
  } catch (const std::exception& error) {
    facts_.report_failed = true;
    record_.diagnostics.push_back(
        {.code = "S004",
         .message = fmt::format("the dump '{}' cannot be written: {}", file.string(), error.what()),
         .help = "give --dump a folder that can be written"});
  }
}

}  // namespace

RunRecord execute(Plan& plan, const RunOptions& options, const std::vector<RunObserver*>& observers) {
  return Execution(plan, options, observers).run();
}

RunRecord record_of(const Plan& plan) {
  RunRecord record;
  record.pipeline_name = plan.name;
  if (plan.common_name != plan.name) record.common_name = plan.common_name;
  record.pipeline_file = plan.file;
  record.pipeline_sha256 = plan.sha256;
  record.overrides = plan.overrides;
  record.config_sha256 = plan.config_sha256;
  record.selection = plan.selection;
  record.run_id = plan.run_id;
  record.matrix = plan.all_rows;
  return record;
}

RunRecord invalid_record(const PlanResult& result, int exit_code) {
  auto record = record_of(result.plan);
  record.common_name.clear();
  const bool one = result.plan.all_rows.empty() || result.rows.size() == 1;
  if (!one) record.pipeline_name = result.plan.common_name;
  if (result.rows.size() == 1) record.row = result.rows.front();
  record.diagnostics = result.diagnostics;
  record.verdict = RunVerdict::invalid;
  record.exit_code = exit_code;
  return record;
}

}  // namespace lockstep
