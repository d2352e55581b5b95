#include "engine/worker.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

#include "check/parallel.hpp"
#include "engine/environment.hpp"
#include "engine/run_context.hpp"
#include "engine/step_call.hpp"
#include "engine/tensor_memory.hpp"
#include "engine/worker_board.hpp"
#include "engine/worker_message.hpp"
#include "pipeline/declared.hpp"
#include "process/process_memory.hpp"

namespace lockstep {
namespace {

class ProgressToBoard final : public RunObserver {
 public:
  explicit ProgressToBoard(WorkerBoard& board) : board_(board) {}
  void step_progress(std::size_t, std::int64_t done, std::int64_t total, std::string_view unit) override {
    board_.progress(done, total, unit);
  }

 private:
  WorkerBoard& board_;
};

/// Opens the plugin of a step that the run has opened too, and sets the step up as the run has.
PlannedStep prepared(const WorkerStep& step, StepCatalog& catalog) {
  auto lookup = catalog.find(step.uses, step.file);
  if (lookup.outcome != StepCatalog::Outcome::loaded)
    throw Error{fmt::format("the plugin cannot be opened in a process of its own: {}", lookup.diagnostic.message),
                lookup.diagnostic.help};
  if (lookup.handle.build_id != step.build_id)
    throw Error{fmt::format("the plugin '{}' was built anew after the run had begun", step.file),
                "start the run again"};
  PlannedStep planned{.id = step.id, .uses = step.uses, .handle = std::move(lookup.handle)};
  const auto& declarations = planned.handle->step->declarations();
  for (const auto& [name, value] : step.parameters) {
    auto* parameter = declared(declarations.parameters, name);
    if (parameter != nullptr && !std::holds_alternative<std::monostate>(value.data)) parameter->assign(value, {});
  }
  for (std::size_t i = 0; i < declarations.checks.size(); ++i) declarations.checks[i]->configure(step.checks.at(i));
  return planned;
}

/// The steps of one request, in this process.
class Work {
 public:
  Work(WorkerRequest request, std::shared_ptr<const MappedFile> given, WorkerBoard& board, StepCatalog& catalog)
      : request_(std::move(request)), given_(std::move(given)), board_(board) {
    for (const auto& step : request_.steps) plan_.steps.push_back(prepared(step, catalog));
    prepare_environment();
  }

  WorkerAnswer run(TemporaryFile& results) {
    const auto last = request_.steps.size() - 1;
    for (std::size_t i = 0; i < last; ++i) compute_again(i);
    return run_isolated(last, results);
  }

 private:
  void prepare_environment() {
    threads_.threads = request_.threads;
    threads_.automatic = request_.automatic_threads;
    threads_.set_by = request_.threads_set_by;
    threads_.libtorch_used = request_.libtorch_used;
    threads_.apply = [this, hooks = hooks_of(plan_)](int threads) {
      set_check_threads(threads);
      configure(hooks, threads, request_.seed, request_.kernels);
    };
    threads_.apply(threads_.threads.value_or(0));
  }

  void bind(std::size_t i) {
    for (auto* input : plan_.steps[i].handle->step->declarations().inputs) {
      const auto& wires = request_.steps[i].wires;
      const auto wire = std::ranges::find(wires, input->info().name, &WorkerStep::Wire::input);
      if (wire == wires.end()) continue;
      if (!wire->given) {
        input->bind(output_of(wire->step, wire->output).value());
        continue;
      }
      NamedTensors tensors;
      for (const auto& [name, place] : request_.given.at(*wire->given)) tensors.add(name, tensor_at(given_, place));
      input->bind(input->info().transfer->from_tensors(tensors));
    }
  }

  const OutPort& output_of(std::size_t step, const std::string& name) const {
    const auto* output = declared(plan_.steps[step].handle->step->declarations().outputs, name);
    if (output != nullptr && output->has_value()) return *output;
    throw Error{
        fmt::format("'{}' was computed again in this process and did not publish '{}'", request_.steps[step].id, name)};
  }

  StepCall call(std::size_t i, RunRecord& record, std::optional<std::string>& skip) {
    record.steps.push_back({.id = request_.steps[i].id});
    ProgressToBoard progress(board_);
    const std::vector<RunObserver*> observers{&progress};
    RunContext context(record, 0, threads_, board_.interrupted(), observers);
    board_.running(i);
    auto result = call_step(plan_.steps[i], context);
    skip = context.skip_reason();
    return result;
  }

  void compute_again(std::size_t i) {
    bind(i);
    RunRecord ignored;
    std::optional<std::string> skip;
    const auto result = call(i, ignored, skip);
    if (result.interrupted) throw Interrupted{};
    if (result.failure)
      throw Error{fmt::format("'{}', computed again in this process, failed: {}", request_.steps[i].id,
                              result.failure->message),
                  result.failure->help};
  }

  WorkerAnswer run_isolated(std::size_t i, TemporaryFile& results) {
    bind(i);
    RunRecord record;
    WorkerAnswer answer;
    const auto threads_before = threads_.set_by;
    MemoryWatch watch;
    const auto result = call(i, record, answer.skip);
    describe_libraries(hooks_of(plan_), record);
    const auto memory = watch.peak();
    answer.peak_rss_bytes = memory.rss_bytes;
    answer.peak_private_bytes = memory.private_bytes;
    answer.interrupted = result.interrupted;
    if (result.failure)
      answer.failure = WorkerAnswer::Failure{result.failure->code, result.failure->message, result.failure->help,
                                             result.failure->did_you_mean};
    answer.summary = record.steps.front().summary;
    answer.fields = record.steps.front().extra;
    if (const auto& tail = record.steps.front().output_tail; !tail.empty())
      answer.fields.emplace_back("output_tail", Value::Array(tail.begin(), tail.end()));
    answer.environment = record.environment;
    if (threads_.set_by != threads_before) answer.threads = threads_.threads;
    for (const auto* check : plan_.steps[i].handle->step->declarations().checks)
      answer.checks.push_back({check->settings(), check->results()});
    if (!answer.failure && !answer.interrupted) answer.outputs = write_outputs(i, results);
    return answer;
  }

  std::vector<WorkerAnswer::Output> write_outputs(std::size_t i, TemporaryFile& results) {
    std::vector<WorkerAnswer::Output> outputs;
    TensorMemory memory;
    std::vector<std::pair<WorkerAnswer::OutputTensor*, std::size_t>> written;
    std::vector<std::vector<Tensor>> tensors;
    for (const auto* port : plan_.steps[i].handle->step->declarations().outputs) {
      if (!port->has_value()) continue;
      auto& output = outputs.emplace_back(WorkerAnswer::Output{.name = port->info().name, .tensors = {}});
      auto& held = tensors.emplace_back();
      const auto add = [&](std::string_view name, const Tensor& tensor) {
        output.tensors.push_back({.name = std::string(name), .place = {}});
        held.push_back(tensor);
      };
      output.is_sent = port->info().transfer != nullptr;
      if (output.is_sent) {
        const auto named = port->info().transfer->to_tensors(port->value().get());
        for (const auto& [name, tensor] : named.entries()) add(name, tensor);
      } else {
        port->visit(add);
      }
    }
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      for (std::size_t t = 0; t < tensors[o].size(); ++t) {
        auto& described = outputs[o].tensors[t];
        if (!outputs[o].is_sent && !request_.dump) {
          described.place = {0, tensors[o][t].dtype(), tensors[o][t].sizes(), tensors[o][t].strides()};
        } else if (auto place = place_in(*given_, tensors[o][t])) {
          described.is_given = true;
          described.place = std::move(*place);
        } else {
          written.emplace_back(&described, memory.add(tensors[o][t]));
        }
      }
    }
    memory.write(results);
    for (const auto& [described, index] : written) described->place = memory.placed(index);
    return outputs;
  }

  WorkerRequest request_;
  std::shared_ptr<const MappedFile> given_;
  WorkerBoard& board_;
  Plan plan_;
  ThreadSetting threads_;
};

WorkerAnswer answer_to(const WorkerRequest& request, TemporaryFile& given, WorkerBoard& board, TemporaryFile& results,
                       StepCatalog& catalog) {
  WorkerAnswer answer;
  try {
    return Work(request, MappedFile::open(given.path()), board, catalog).run(results);
  } catch (const Interrupted&) {
    answer.interrupted = true;
  } catch (const Error& error) {
    answer.failure = {"S001", error.diagnostic().message, error.diagnostic().help, error.diagnostic().did_you_mean};
  } catch (const std::exception& error) {
    answer.failure = {"S001", error.what(), {}, {}};
  }
  return answer;
}

}  // namespace

void run_worker(const std::array<int, worker_files>& descriptors, StepCatalog& catalog) {
  for (const int descriptor : descriptors) {
    if (::fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0) throw Error{"this is not the process of an isolated step"};
  }
  const auto file = [&](WorkerFile which) { return descriptors.at(static_cast<std::size_t>(which)); };
  TemporaryFile request_file(file(WorkerFile::request));
  TemporaryFile given(file(WorkerFile::given));
  TemporaryFile board_file(file(WorkerFile::board));
  TemporaryFile answer_file(file(WorkerFile::answer));
  TemporaryFile results(file(WorkerFile::results));
  ::prctl(PR_SET_NAME, "lockstep-worker");
  // If memory runs out, the kernel shall end this process and not that of the run.
  std::ofstream("/proc/self/oom_score_adj") << "1000";

  WorkerBoard board(board_file);
  const auto request = request_from(MappedFile::open(request_file.path())->bytes());
  if (request.steps.empty()) throw Error{"a request names no step"};
  try {
    answer_file.write(to_bytes(answer_to(request, given, board, results, catalog)), 0);
  } catch (const Error& error) {
    board.cannot_answer(error.what());
    throw;
  }
}

}  // namespace lockstep
