#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/port.hpp>
#include "pipeline/binding.hpp"
#include "pipeline/render_diagnostic.hpp"

namespace lockstep {
namespace {

constexpr std::size_t most_notes = 20;

std::vector<std::string> names_of(const std::vector<InPort*>& ports) {
  std::vector<std::string> names;
  names.reserve(ports.size());
  for (const auto* port : ports) names.push_back(port->info().name);
  return names;
}

/// The pair that is mixed up most: one tensor and a set of them.
std::string help_of_types(const PortInfo& input, const std::string& place, const PortInfo& output) {
  constexpr auto one = PortType<Tensor>::id;
  constexpr auto set = PortType<NamedTensors>::id;
  if (input.type == one && output.type == set)
    return fmt::format(
        "{} is a set of named tensors: let the step declare In<NamedTensors> {} and take one with {}->at(\"name\")",
        place, input.name, input.name);
  if (input.type == set && output.type == one)
    return fmt::format(
        "{} is one tensor, the input takes a set of named ones: let the step that gives it declare Out<NamedTensors>",
        place);
  return "wire an output of the input's type; `lockstep describe STEP` shows the types of ports";
}

}  // namespace

Wiring::Wiring(std::vector<StepSource> sources)
    : sources_(std::move(sources)), by_step_(sources_.size()), unknown_(sources_.size(), false) {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (!sources_[i].id.empty()) indices_.emplace(sources_[i].id, i);
  }
}

void Wiring::add(std::size_t index, const Step* step, bool broken) {
  unknown_[index] = step == nullptr;
  some_broken_ = some_broken_ || broken;
  if (step == nullptr) return;
  for (const auto* port : step->declarations().outputs) {
    const Output output{index, &port->info()};
    by_step_[index].push_back(output);
    by_name_[output.port->name].push_back(output);
    by_type_[output.port->type].push_back(output);
  }
}

std::string Wiring::place(const Output& output) const { return sources_[output.step].id + "." + output.port->name; }

std::vector<PlannedWire> Wiring::bind(std::size_t index, const Step* step, Findings& findings) {
  const auto& source = sources_[index];
  std::vector<PlannedWire> wires;
  const Node* inputs = source.inputs;
  if (inputs != nullptr && inputs->reported()) return wires;
  if (inputs != nullptr && inputs->table() == nullptr) {
    findings.error("P008", *inputs,
                   fmt::format("'inputs' of {} is {}, expected a table", source.label, kind_text(*inputs)));
    return wires;
  }
  if (step == nullptr) {
    if (inputs == nullptr) return wires;
    for (const auto& [name, member] : *inputs->table()) {
      if (auto wire = written(index, nullptr, name, member, findings)) wires.push_back(std::move(*wire));
    }
    return wires;
  }
  const auto& ports = step->declarations().inputs;
  std::set<std::string> misspelt;
  if (inputs != nullptr) {
    const auto names = names_of(ports);
    for (const auto& [name, member] : *inputs->table()) {
      if (std::ranges::find(names, name) != names.end()) continue;
      auto& error =
          findings.error("P045", member.key, fmt::format("{} has no input {}", source.label, in_quotes(name)));
      error.did_you_mean = did_you_mean(name, names);
      error.help = names.empty() ? fmt::format("{} has no inputs", in_quotes(source.uses))
                                 : fmt::format("inputs of {}: {}", in_quotes(source.uses), fmt::join(names, ", "));
      misspelt.insert(error.did_you_mean);
    }
  }
  for (const auto* port : ports) {
    const auto* member = inputs != nullptr ? inputs->find(port->info().name) : nullptr;
    if (member == nullptr && misspelt.contains(port->info().name)) continue;  // wired, under a name that was reported
    auto wire = member != nullptr ? written(index, &port->info(), port->info().name, *member, findings)
                                  : inferred(index, port->info(), findings);
    if (wire) wires.push_back(std::move(*wire));
  }
  return wires;
}

std::optional<PlannedWire> Wiring::written(std::size_t reader, const PortInfo* input, const std::string& name,
                                           const Node::Member& member, Findings& findings) const {
  const auto& source = sources_[reader];
  const auto& node = member.value;
  if (node.reported()) return std::nullopt;
  const auto what = fmt::format("input {} of {}", in_quotes(name), source.label);
  const auto* text = node.text();
  const auto dot = text != nullptr ? text->find('.') : std::string::npos;
  if (text == nullptr || dot == std::string::npos || dot == 0 || dot + 1 == text->size()) {
    findings
        .error("P040", node,
               fmt::format("{} is {}, expected \"step.output\"", what,
                           text != nullptr ? in_quotes(*text) : kind_text(node)))
        .help = "name the step and its output, for example \"build_static_inputs.batch\"";
    return std::nullopt;
  }
  const auto id = text->substr(0, dot);
  const auto output = text->substr(dot + 1);
  const auto found = indices_.find(id);
  if (found == indices_.end()) {
    if (input == nullptr) return std::nullopt;  // of a step that is not there only the form is judged
    auto& error = findings.error("P041", node,
                                 fmt::format("{} names step {}, which is not in the pipeline", what, in_quotes(id)));
    if (findings.full()) return std::nullopt;
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < reader; ++i) ids.push_back(sources_[i].id);
    error.did_you_mean = did_you_mean(id, ids);
    return std::nullopt;
  }
  const auto producer = found->second;
  if (producer >= reader) {
    if (input == nullptr) return std::nullopt;
    auto& error =
        findings.error("P042", node,
                       producer == reader ? fmt::format("{} names the step itself", what)
                                          : fmt::format("{} names step {}, which comes later", what, in_quotes(id)));
    if (producer != reader)
      error.notes.push_back({fmt::format("step {} is here", in_quotes(id)), sources_[producer].location});
    error.help = "steps run in the order of the file; an input comes from an earlier step";
    return std::nullopt;
  }
  PlannedWire wire{.input = name, .step = producer, .output = output, .inferred = false, .location = node.location};
  if (input == nullptr || unknown_[producer]) return wire;

  const auto& outputs = by_step_[producer];
  const auto port = std::ranges::find(outputs, output, [](const Output& each) { return each.port->name; });
  if (port == outputs.end()) {
    std::vector<std::string> names;
    for (const auto& each : outputs) names.push_back(each.port->name);
    auto& error =
        findings.error("P043", node, fmt::format("step {} has no output {}", in_quotes(id), in_quotes(output)));
    error.did_you_mean = did_you_mean(output, names);
    error.help = names.empty() ? fmt::format("step {} has no outputs", in_quotes(id))
                               : fmt::format("outputs of step {}: {}", in_quotes(id), fmt::join(names, ", "));
    return std::nullopt;
  }
  if (port->port->type != input->type) {
    auto& error = findings.error(
        "P044", node,
        fmt::format("{} has type {}, but {} has type {}", what, input->type, in_quotes(*text), port->port->type));
    error.help = help_of_types(*input, in_quotes(*text), *port->port);
    return std::nullopt;
  }
  return wire;
}

std::optional<PlannedWire> Wiring::inferred(std::size_t reader, const PortInfo& input, Findings& findings) const {
  std::vector<Output> fitting;
  if (const auto same_name = by_name_.find(input.name); same_name != by_name_.end()) {
    std::ranges::copy_if(same_name->second, std::back_inserter(fitting),
                         [&](const Output& each) { return each.port->type == input.type; });
  }
  if (fitting.size() == 1) {
    return PlannedWire{
        .input = input.name, .step = fitting.front().step, .output = input.name, .inferred = true, .location = {}};
  }
  const auto& source = sources_[reader];
  if (fitting.empty()) {
    // A step that could not be loaded may well have this output.
    if (!input.optional && !some_broken_) report_unbound(reader, input, findings);
    return std::nullopt;
  }
  auto& error = findings.error(
      "P047", source.location,
      fmt::format("input {} of {} could come from {} steps", in_quotes(input.name), source.label, fitting.size()));
  for (std::size_t i = 0; i < std::min(fitting.size(), most_notes); ++i) {
    error.notes.push_back({in_quotes(place(fitting[i])), sources_[fitting[i].step].location});
  }
  error.help = fmt::format("choose one, for example inputs.{} = \"{}\"", input.name, place(fitting.back()));
  return std::nullopt;
}

void Wiring::report_unbound(std::size_t reader, const PortInfo& input, Findings& findings) const {
  const auto& source = sources_[reader];
  auto& error = findings.error(
      "P046", source.location,
      fmt::format("nothing before {} has an output {} of type {}", source.label, in_quotes(input.name), input.type));
  if (findings.full()) return;
  const auto note = [&](const std::unordered_map<std::string, std::vector<Output>>& outputs, const std::string& key,
                        std::string_view but) {
    const auto found = outputs.find(key);
    if (found == outputs.end()) return;
    for (const auto& output : found->second) {
      if (error.notes.size() >= most_notes) return;
      error.notes.push_back({fmt::format("{} has {} {}", in_quotes(place(output)), but, output.port->type),
                             sources_[output.step].location});
    }
  };
  note(by_name_, input.name, "type");
  note(by_type_, input.type, "another name and type");
  for (std::size_t i = 0; i < reader && error.notes.size() < most_notes; ++i) {
    if (unknown_[i])
      error.notes.push_back(
          {fmt::format("{} is skipped and its plugin was not found, so nothing is inferred from it", sources_[i].label),
           sources_[i].location});
  }
  error.help = fmt::format("add a step that gives it, or wire it: inputs.{} = \"step.output\"", input.name);
}

}  // namespace lockstep
