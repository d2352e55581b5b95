#include "engine/isolated_step.hpp"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

#include "engine/tensor_memory.hpp"
#include "engine/worker_answer.hpp"
#include "engine/worker_board.hpp"
#include "process/child_process.hpp"
#include "process/temporary_file.hpp"
#include "tensor/mapped_file.hpp"

namespace lockstep {
namespace {

std::vector<std::string> last_lines(std::string_view text) {
  constexpr std::size_t most = 20;
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (lines.size() > most) lines.erase(lines.begin(), lines.end() - most);
  return lines;
}

/// One process of one isolated step.
class Isolated {
 public:
  explicit Isolated(const IsolatedCall& call)
      : call_(call),
        crossing_(without_empty_wires(call.isolated.crossing, call.index, call.is_empty)),
        order_(crossing_.computed_again),
        board_(board_file_) {
    order_.push_back(call.index);
  }

  StepCall run() {
    write_request();
    const auto child = child_request();
    const auto result = run_child(child);
    std::string unreadable;
    if (!result.timed_out && result.signal == 0 && result.exit_code == 0) {
      try {
        const auto bytes = MappedFile::open(answer_file_.path());
        if (!bytes->bytes().empty()) return take_answer(bytes->bytes());
      } catch (const Error& error) {
        unreadable = error.what();
      }
    }
    if (const auto why = board_.why_no_answer(); !why.empty() && result.signal == 0 && !result.timed_out)
      throw Error{fmt::format("what came out could not be handed back: {}", why),
                  "free some space in the folder for temporary files, or set TMPDIR to one with room"};
    StepCall outcome;
    outcome.crash = crash_of(child, result, unreadable);
    outcome.memory = result.memory;
    return outcome;
  }

 private:
  using Given = std::map<std::pair<std::size_t, std::string>, std::size_t>;

  /// Writes the memory of what is sent; the number of each result among the given ones.
  Given write_given(WorkerRequest& request) {
    Given numbers;
    std::vector<std::vector<std::pair<std::string, std::size_t>>> given;
    for (const auto& wire : crossing_.wires) {
      if (wire.transfer == nullptr) continue;
      if (!numbers.emplace(std::pair(wire.step, wire.output), given.size()).second) continue;
      const auto value = call_.value_of(wire);
      const auto sent = wire.transfer->to_tensors(value.get());
      auto& tensors = given.emplace_back();
      for (const auto& [name, tensor] : sent.entries()) tensors.emplace_back(name, given_.add(tensor));
    }
    given_.write(given_file_);
    for (const auto& tensors : given) {
      auto& placed = request.given.emplace_back();
      for (const auto& [name, index] : tensors) placed.emplace_back(name, given_.placed(index));
    }
    return numbers;
  }

  void write_request() {
    WorkerRequest request{.seed = call_.plan.environment.seed,
                          .kernels = call_.plan.environment.kernels,
                          .threads = call_.threads.threads,
                          .automatic_threads = call_.threads.automatic,
                          .threads_set_by = call_.threads.set_by,
                          .libtorch_used = call_.threads.libtorch_used,
                          .dump = !call_.options.dump.empty(),
                          .steps = {},
                          .given = {}};
    const auto numbers = write_given(request);
    for (const auto index : order_) request.steps.push_back(call_.isolated.steps.at(index));
    for (const auto& wire : crossing_.wires) {
      const auto place = [this](std::size_t step) {
        return static_cast<std::size_t>(std::ranges::find(order_, step) - order_.begin());
      };
      WorkerStep::Wire described{.input = wire.input, .given = std::nullopt, .step = 0, .output = wire.output};
      if (wire.transfer != nullptr)
        described.given = numbers.at({wire.step, wire.output});
      else
        described.step = place(wire.step);
      request.steps[place(wire.reader)].wires.push_back(std::move(described));
    }
    request_file_.write(to_bytes(request), 0);
  }

  ChildRequest child_request() {
    ChildRequest child{.argv = call_.options.worker, .time_limit = call_.plan.steps[call_.index].isolation->time_limit};
    for (const auto* file : {&request_file_, &given_file_, &board_file_, &answer_file_, &results_file_}) {
      child.argv.push_back(std::to_string(file->descriptor()));
      child.inherited.push_back(file->descriptor());
    }
    child.on_output = [this](std::string_view text) {
      for (auto* observer : call_.observers) observer->step_output(call_.index, text);
    };
    child.while_waiting = [this] {
      if (call_.options.interrupted != nullptr && call_.options.interrupted->load()) board_.interrupt();
      const auto progress = board_.progress();
      if (progress.count == std::exchange(progress_seen_, progress.count)) return;
      for (auto* observer : call_.observers)
        observer->step_progress(call_.index, progress.done, progress.total, progress.unit);
    };
    return child;
  }

  StepCall take_answer(std::string_view bytes) {
    auto& planned = call_.plan.steps[call_.index];
    return take_over(answer_from(bytes), given_, MappedFile::open(results_file_.path()), !call_.options.dump.empty(),
                     *planned.handle->step, call_.context);
  }

  /// In which plugin, as far as it is known.
  [[nodiscard]] std::string place_of_crash() const {
    const auto running = board_.running();
    if (!running || *running >= order_.size()) return "before the step began";
    const auto& step = call_.isolated.steps.at(order_[*running]);
    const bool again = *running + 1 < order_.size();
    return fmt::format("in {}{}", step.file, again ? fmt::format(", while '{}' was computed again", step.id) : "");
  }

  [[nodiscard]] Crash crash_of(const ChildRequest& child, const ChildResult& result,
                               const std::string& unreadable) const {
    Crash crash{.reason = {}, .code = "S005", .help = {}, .output_tail = last_lines(result.output_tail)};
    if (result.timed_out) {
      crash.code = "S006";
      crash.reason = fmt::format("{} (time_limit) {}", ending_text(child, result), place_of_crash());
      crash.help = "if it is not stuck, give it a larger time_limit";
    } else if (result.signal != 0) {
      const auto* guess = result.signal == SIGKILL ? ", perhaps by the kernel for lack of memory," : "";
      crash.reason = fmt::format("{}{} {}", ending_text(child, result), guess, place_of_crash());
    } else if (unreadable.empty()) {
      crash.reason = fmt::format("called exit({}) {}", result.exit_code, place_of_crash());
    } else {
      crash.reason = fmt::format("left a result that cannot be read: {}", unreadable);
    }
    return crash;
  }

  const IsolatedCall& call_;
  Crossing crossing_;
  std::vector<std::size_t> order_;  // of the request's steps; the last one is the isolated step
  TemporaryFile request_file_;
  TemporaryFile given_file_;
  TemporaryFile board_file_ = WorkerBoard::memory();
  TemporaryFile answer_file_;
  TemporaryFile results_file_;
  WorkerBoard board_;
  TensorMemory given_;
  std::uint64_t progress_seen_ = 0;
};

}  // namespace

IsolatedPlan isolated_plan_of(const Plan& plan, std::size_t index) {
  IsolatedPlan result{.crossing = crossing_of(plan, index), .steps = {}};
  auto steps = result.crossing.computed_again;
  steps.push_back(index);
  for (const auto step : steps) {
    const auto& planned = plan.steps[step];
    if (!planned.handle) continue;  // skipped, and so are those that read from it
    WorkerStep described{.id = planned.id,
                         .uses = planned.uses,
                         .file = planned.handle->file.string(),
                         .build_id = planned.handle->build_id,
                         .parameters = {},
                         .checks = {},
                         .wires = {}};
    for (const auto& parameter : planned.parameters) described.parameters.emplace_back(parameter.name, parameter.value);
    for (const auto* check : planned.handle->step->declarations().checks) described.checks.push_back(check->settings());
    result.steps.emplace(step, std::move(described));
  }
  return result;
}

StepCall call_isolated(const IsolatedCall& call) {
  try {
    if (call.options.worker.empty())
      throw Error{"this program cannot run a step in a process of its own", "run it with 'lockstep run'"};
    return Isolated(call).run();
  } catch (const Error& error) {
    StepCall outcome;
    outcome.failure = error.diagnostic();
    outcome.failure->code = "S007";
    return outcome;
  }
}

}  // namespace lockstep
