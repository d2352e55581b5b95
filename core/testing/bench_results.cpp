#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lockstep/safetensors.hpp>
#include <lockstep/testing.hpp>

#include "check/compare.hpp"
#include "report/check_text.hpp"
#include "report/terminal.hpp"
#include "testing/bench_state.hpp"

namespace lockstep {
namespace {

std::optional<std::string> reason_if(const StepRecord& record, StepStatus status) {
  return record.status == status ? record.reason : std::nullopt;
}

Verdict verdict_of(const CheckResult& result) {
  if (!result.verdict)
    throw Error{fmt::format("check '{}' has no verdict: the step ended in an error", result.name), "look at error()"};
  return *result.verdict;
}

}  // namespace

const StepRecord& StepBench::State::result() const {
  if (!record) throw Error{"the bench has not run yet", "call run() first"};
  return record->steps.front();
}

std::string StepBench::status() const { return std::string(name_of(state_->result().status.value())); }
std::optional<std::string> StepBench::error() const { return reason_if(state_->result(), StepStatus::error); }
std::optional<std::string> StepBench::skip_reason() const { return reason_if(state_->result(), StepStatus::skipped); }
std::string StepBench::summary() const { return state_->result().summary.value_or(""); }
const std::vector<std::string>& StepBench::progress() const {
  static_cast<void>(state_->result());
  return state_->progress;
}

const std::vector<std::pair<std::string, Value>>& StepBench::recorded() const { return state_->result().extra; }
const std::vector<CheckResult>& StepBench::results() const { return state_->result().checks; }

std::vector<CheckResult> StepBench::results(std::string_view check) const {
  (void)member_named(state_->handle.step->declarations().checks, "check", check);
  auto found = results();
  std::erase_if(found, [check](const CheckResult& result) { return result.name != check; });
  return found;
}

const CheckResult& StepBench::result(std::string_view check) const {
  const auto count = results(check).size();
  if (count != 1) throw Error{fmt::format("check '{}' has {} entries, expected one", check, count)};
  return *std::ranges::find(results(), check, &CheckResult::name);
}

const CheckResult& StepBench::result(std::string_view check, std::string_view subject) const {
  (void)member_named(state_->handle.step->declarations().checks, "check", check);
  for (const auto& result : results()) {
    if (result.name == check && result.subject == subject) return result;
  }
  throw Error{fmt::format("check '{}' has no entry for '{}'", check, subject)};
}

Verdict StepBench::verdict(std::string_view check) const { return verdict_of(result(check)); }
Verdict StepBench::verdict(std::string_view check, std::string_view subject) const {
  return verdict_of(result(check, subject));
}

std::vector<std::string> StepBench::with(Verdict verdict) const {
  std::vector<std::string> names;
  for (const auto& result : results()) {
    if (result.verdict == verdict) names.push_back(result.name);
  }
  return names;
}

std::string StepBench::report() const {
  (void)state_->result();
  return terminal_step(*state_->record, 0, {.colour = false, .detail = Detail::verbose});
}

std::shared_ptr<const void> StepBench::output_untyped(std::string_view name, std::string_view type) const {
  (void)state_->result();
  const auto& port = member_named(state_->handle.step->declarations().outputs, "output", name);
  if (port.info().type != type)
    throw Error{fmt::format("output '{}' is '{}', it was asked for as '{}'", name, port.info().type, type)};
  return port.value();
}

const std::vector<std::pair<std::string, Tensor>>& StepBench::tensors() const {
  (void)state_->result();
  return state_->tensors;
}

std::vector<std::string> StepBench::differences_from_golden(const std::filesystem::path& file,
                                                            const Criterion& criterion) const {
  const auto& actual = tensors();
  if (actual.empty()) return {fmt::format("the step published no tensor; its status is {}", status())};
  if (std::getenv("LOCKSTEP_UPDATE_GOLDEN") != nullptr) {  // NOLINT(concurrency-mt-unsafe)
    write_safetensors(file, actual);
    return {};
  }
  if (!std::filesystem::exists(file))
    return {fmt::format("there is no {}; a run with LOCKSTEP_UPDATE_GOLDEN=1 in the environment writes it",
                        std::filesystem::absolute(file).string())};
  const auto golden = SafetensorsFile::open(file);
  std::vector<std::string> differences;
  for (const auto& [name, tensor] : actual) {
    if (!golden.contains(name)) {
      differences.push_back(fmt::format("{}: not in {}", name, file.string()));
      continue;
    }
    auto result = compare(golden.at(name), tensor, criterion);
    result.expected = "golden";
    const bool both_empty = result.verdict == Verdict::vacuous && tensor.numel() == 0;
    if (result.verdict == Verdict::pass || both_empty) continue;
    const auto worst = worst_of(result);
    differences.push_back(fmt::format("{}: {}{}", name, outcome_of(result), worst ? "; " + *worst : std::string()));
  }
  for (const auto& name : golden.names()) {
    if (std::ranges::find(actual, name, &std::pair<std::string, Tensor>::first) == actual.end())
      differences.push_back(fmt::format("{}: in {} alone", name, file.string()));
  }
  return differences;
}

}  // namespace lockstep
