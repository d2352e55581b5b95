#include "engine/worker_answer.hpp"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

#include "pipeline/declared.hpp"

namespace lockstep {
namespace {

OutPort& output_of(const Step& step, const std::string& name) {
  auto* output = declared(step.declarations().outputs, name);
  if (output == nullptr) throw Error{fmt::format("the step has no output '{}'", name)};
  return *output;
}

Tensor tensor_of(const WorkerAnswer::OutputTensor& sent, const TensorMemory& given,
                 const std::shared_ptr<const MappedFile>& results) {
  if (!sent.is_given) return tensor_at(results, sent.place);
  if (auto original = given.original(sent.place)) return *std::move(original);
  throw Error{fmt::format("tensor '{}' is said to be a part of the inputs and is not", sent.name)};
}

/// What an output holds that stays in the other process.
void describe_kept(const WorkerAnswer::Output& output, const OutPort& port, StepCall& call) {
  OutputRecord described{.name = output.name, .type = port.info().type, .tensors = {}};
  for (const auto& tensor : output.tensors)
    described.tensors.push_back({tensor.name, tensor.place.dtype, tensor.place.sizes});
  call.kept_outputs.push_back(std::move(described));
}

void tell(const WorkerAnswer& answer, StepContext& context) {
  if (answer.threads) context.set_threads(*answer.threads);
  for (const auto& [key, value] : answer.environment) context.environment(key, value);
  for (const auto& [key, value] : answer.fields) context.record(key, value);
  if (answer.summary) context.summary(*answer.summary);
  if (answer.skip) context.skip(*answer.skip);
}

}  // namespace

StepCall take_over(WorkerAnswer answer, const TensorMemory& given, const std::shared_ptr<const MappedFile>& results,
                   bool dump, Step& step, StepContext& context) {
  StepCall call;
  call.interrupted = answer.interrupted;
  call.memory = PeakMemory{.rss_bytes = answer.peak_rss_bytes, .private_bytes = answer.peak_private_bytes};
  if (answer.failure)
    call.failure = Diagnostic{.code = answer.failure->code,
                              .message = answer.failure->message,
                              .did_you_mean = answer.failure->did_you_mean,
                              .help = answer.failure->help};

  std::vector<std::pair<OutPort*, std::shared_ptr<const void>>> values;
  for (const auto& output : answer.outputs) {
    auto& port = output_of(step, output.name);
    if (!output.is_sent || port.info().transfer == nullptr) {
      describe_kept(output, port, call);
      for (const auto& sent : output.tensors)
        if (dump) call.kept_tensors.emplace_back(dump_name(output.name, sent.name), tensor_of(sent, given, results));
      continue;
    }
    NamedTensors tensors;
    for (const auto& sent : output.tensors) tensors.add(sent.name, tensor_of(sent, given, results));
    values.emplace_back(&port, port.info().transfer->from_tensors(tensors));
  }
  const auto& checks = step.declarations().checks;
  const bool has_checks = !answer.checks.empty();  // none if the step did not come to run
  if (has_checks && answer.checks.size() != checks.size())
    throw Error{fmt::format("{} checks were answered, the step has {}", answer.checks.size(), checks.size())};

  for (auto& [port, value] : values) port->publish(std::move(value));
  for (std::size_t i = 0; has_checks && i < checks.size(); ++i) {
    checks[i]->configure(std::move(answer.checks[i].settings));
    checks[i]->restore(std::move(answer.checks[i].results));
  }
  tell(answer, context);
  return call;
}

}  // namespace lockstep
