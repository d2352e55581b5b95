#include "engine/verdict.hpp"

#include <algorithm>

#include "pipeline/exit_code.hpp"

namespace lockstep {
namespace {

StepStatus status_of(const CheckResult& check) {
  switch (check.verdict.value_or(Verdict::pass)) {
    case Verdict::pass:
      return StepStatus::pass;
    case Verdict::warn:
      return StepStatus::warn;
    case Verdict::fail:
      return StepStatus::fail;
    case Verdict::vacuous:
      break;
  }
  if (check.on_vacuous == OnVacuous::allow) return StepStatus::pass;
  return check.level == Level::require && check.on_vacuous == OnVacuous::fail ? StepStatus::fail : StepStatus::warn;
}

bool ran(const StepRecord& step) { return step.status && *step.status != StepStatus::skipped; }

}  // namespace

StepStatus status_of(const std::vector<CheckResult>& checks) {
  auto worst = checks.empty() ? StepStatus::done : StepStatus::pass;
  for (const auto& check : checks) {
    const auto status = status_of(check);
    if (status == StepStatus::fail) return status;
    if (status == StepStatus::warn) worst = status;
  }
  return worst;
}

RunVerdict verdict_of_exit_code(int code) noexcept {
  switch (code) {
    case exit_code::passed:
      return RunVerdict::pass;
    case exit_code::failed:
      return RunVerdict::fail;
    case exit_code::invalid:
    case exit_code::not_loadable:
      return RunVerdict::invalid;
    case exit_code::crashed:
      return RunVerdict::crashed;
    case exit_code::interrupted:
      return RunVerdict::interrupted;
    default:
      return RunVerdict::error;
  }
}

void conclude(RunRecord& record, const RunFacts& facts) {
  const auto any = [&record](auto&& predicate) { return std::ranges::any_of(record.steps, predicate); };
  const bool errors = any([](const StepRecord& s) { return s.status == StepStatus::error; });
  const bool crashes = any([](const StepRecord& s) { return s.status == StepStatus::crashed; });
  const bool failures = any([](const StepRecord& s) { return s.scored && s.status == StepStatus::fail; });
  const bool scored_ran = any([](const StepRecord& s) { return s.scored && ran(s); });
  const bool nothing = !scored_ran || (facts.declares_required_checks && !facts.performed_required_check);

  if (nothing) record.message = "nothing was verified";
  if (facts.interrupted) {
    record.verdict = RunVerdict::interrupted;
    record.exit_code = exit_code::interrupted;
  } else if (crashes) {
    record.verdict = RunVerdict::crashed;
    record.exit_code = exit_code::crashed;
  } else if (errors || facts.report_failed) {
    record.verdict = RunVerdict::error;
    record.exit_code = exit_code::error;
  } else if (failures || nothing) {
    record.verdict = RunVerdict::fail;
    record.exit_code = exit_code::failed;
  } else {
    record.verdict = RunVerdict::pass;
    record.exit_code = exit_code::passed;
  }
}

}  // namespace lockstep
