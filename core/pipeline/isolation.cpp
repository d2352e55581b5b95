#include "pipeline/isolation.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include "pipeline/declared.hpp"
#include "pipeline/render_diagnostic.hpp"

namespace lockstep {
namespace {

std::optional<double> number_of(const Node& node) {
  if (const auto* integer = std::get_if<std::int64_t>(&node.data)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&node.data)) return *real;
  return std::nullopt;
}

std::optional<double> read_time_limit(const StepSource& source, const Node& node, Findings& findings) {
  if (node.reported()) return std::nullopt;
  const auto seconds = number_of(node);
  const auto what = fmt::format("'time_limit' of {}", source.label);
  if (!seconds) {
    const auto found = node.text() != nullptr ? in_quotes(*node.text()) : kind_text(node);
    findings.error("P008", node, fmt::format("{} is {}, expected a number of seconds", what, found));
    return std::nullopt;
  }
  if (std::isfinite(*seconds) && *seconds > 0) return seconds;
  findings.error("P017", node,
                 fmt::format("{} is {}, expected seconds above 0", what, scalar_text(node).value_or("no number")));
  return std::nullopt;
}

/// How the result that `wire` leads to step `reader` is sent from one process to another; null if it cannot be.
const Transfer* transfer_of(const Plan& plan, std::size_t reader, const PlannedWire& wire) {
  const auto& from = plan.steps[wire.step];
  const auto& to = plan.steps[reader];
  if (!from.handle || !to.handle) return nullptr;
  const auto* output = declared(from.handle->step->declarations().outputs, wire.output);
  const auto* input = declared(to.handle->step->declarations().inputs, wire.input);
  return output != nullptr && input != nullptr && output->info().transfer != nullptr ? input->info().transfer : nullptr;
}

void report_reader(const Plan& plan, const PlannedStep& step, const PortInfo& output,
                   const std::vector<std::size_t>& readers, Findings& findings) {
  auto& error = findings.error("P062", step.isolation->location,
                               fmt::format("output '{}' of isolated step '{}' cannot leave its process, but step '{}'"
                                           " reads it and is not isolated",
                                           output.name, step.id, plan.steps[readers.front()].id));
  error.help = "isolate what reads it too:";
  for (const auto reader : readers) {
    const auto& id = plan.steps[reader].id;
    error.notes.push_back({fmt::format("'{}' reads it", id), plan.steps[reader].location});
    error.help += fmt::format(" --set step.{}.isolation=process", id);
  }
}

}  // namespace

std::optional<PlannedIsolation> read_isolation(const StepSource& source, const Node& step, Findings& findings) {
  const auto* isolation = step.find("isolation");
  const auto* limit = step.find("time_limit");
  const auto seconds = limit != nullptr ? read_time_limit(source, limit->value, findings) : std::nullopt;
  if (isolation == nullptr) {
    if (seconds) {
      findings.error("P061", limit->key, fmt::format("{} has a 'time_limit' but no 'isolation'", source.label)).help =
          "only a process can be ended from outside: isolation = \"process\"";
    }
    return std::nullopt;
  }
  const auto& value = isolation->value;
  if (value.reported()) return std::nullopt;
  const auto* text = value.text();
  if (text != nullptr && *text == "process") return PlannedIsolation{.time_limit = seconds, .location = value.location};
  if (text != nullptr && *text == "none") return std::nullopt;
  auto& error =
      findings.error("P060", value,
                     fmt::format("'isolation' of {} is {}, expected \"process\" or \"none\"", source.label,
                                 text != nullptr ? in_quotes(*text) : scalar_text(value).value_or(kind_text(value))));
  if (text != nullptr) error.did_you_mean = did_you_mean(*text, {"process", "none"});
  return std::nullopt;
}

void check_isolation(const Plan& plan, Findings& findings) {
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const auto& step = plan.steps[i];
    if (!step.isolation || !step.handle || step.skip) continue;
    for (const auto* output : step.handle->step->declarations().outputs) {
      std::vector<std::size_t> outside;
      for (std::size_t reader = i + 1; reader < plan.steps.size(); ++reader) {
        const auto& other = plan.steps[reader];
        if (other.isolation || !other.handle || other.skip) continue;
        const auto reads = [&](const PlannedWire& wire) {
          return wire.step == i && wire.output == output->info().name && transfer_of(plan, reader, wire) == nullptr;
        };
        if (std::ranges::any_of(other.wires, reads)) outside.push_back(reader);
      }
      if (!outside.empty()) report_reader(plan, step, output->info(), outside, findings);
    }
  }
}

Crossing crossing_of(const Plan& plan, std::size_t index) {
  Crossing crossing;
  std::vector<bool> needed(plan.steps.size(), false);
  needed[index] = true;
  for (std::size_t i = index + 1; i-- > 0;) {
    if (!needed[i]) continue;
    if (i != index) crossing.computed_again.push_back(i);
    for (const auto& wire : plan.steps[i].wires) {
      const auto* transfer = transfer_of(plan, i, wire);
      if (transfer == nullptr) needed[wire.step] = true;
      crossing.wires.push_back({i, wire.input, wire.step, wire.output, transfer});
    }
  }
  std::ranges::reverse(crossing.computed_again);
  return crossing;
}

Crossing without_empty_wires(const Crossing& crossing, std::size_t index,
                             const std::function<bool(const Crossing::Wire&)>& is_empty) {
  Crossing result;
  std::set<std::size_t> needed{index};
  for (const auto& wire : crossing.wires) {  // those of later steps come first
    if (!needed.contains(wire.reader) || is_empty(wire)) continue;
    if (wire.transfer == nullptr) needed.insert(wire.step);
    result.wires.push_back(wire);
  }
  std::ranges::copy_if(crossing.computed_again, std::back_inserter(result.computed_again),
                       [&needed](std::size_t step) { return needed.contains(step); });
  return result;
}

}  // namespace lockstep
