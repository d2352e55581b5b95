#include "report/problems.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <optional>

#include "report/check_text.hpp"
#include "report/run_text.hpp"

namespace lockstep {
namespace {

std::optional<Problem> problem_of(const StepRecord& step, const CheckResult& check, bool has_cause) {
  if (!check.verdict || is_fine(check)) return std::nullopt;
  Problem problem{.step = &step, .check = &check};
  switch (*check.verdict) {
    case Verdict::pass:
      return std::nullopt;
    case Verdict::fail:
      problem.kind = Problem::Kind::failure;
      problem.word = "FAIL";
      break;
    case Verdict::warn:
      problem.kind = Problem::Kind::warning;
      problem.word = "warn";
      break;
    case Verdict::vacuous:
      if (has_cause && is_unreached(check)) return std::nullopt;
      problem.word = "vacuous";
      problem.kind = check.level == Level::require && check.on_vacuous == OnVacuous::fail ? Problem::Kind::failure
                                                                                          : Problem::Kind::warning;
      break;
  }
  return problem;
}

/// Where a problem stands in the order of importance.
int rank(const Problem& problem) {
  if (problem.kind == Problem::Kind::error) return 0;
  if (problem.kind == Problem::Kind::warning) return 4;
  if (problem.worse != nullptr) return 2;
  return problem.word == "vacuous" ? 3 : 1;
}

void add(std::vector<Problem>& problems, const BaselineRecord& baseline, const RunRecord& record) {
  for (const auto& finding : baseline.worse) {
    const auto step = std::ranges::find(record.steps, finding.step, &StepRecord::id);
    problems.push_back({.kind = Problem::Kind::failure,
                        .word = "worse",
                        .step = step == record.steps.end() ? nullptr : &*step,
                        .worse = &finding});
  }
}

}  // namespace

std::vector<Problem> problems_of(const RunRecord& record) {
  std::vector<Problem> problems;
  for (const auto& diagnostic : record.diagnostics) {
    if (is_told_by_step(diagnostic)) continue;
    const bool error = diagnostic.severity == Severity::error;
    problems.push_back({.kind = error ? Problem::Kind::error : Problem::Kind::warning,
                        .word = error ? "ERROR" : "warn",
                        .diagnostic = &diagnostic});
  }
  for (const auto& step : record.steps) {
    if (step.status == StepStatus::error || step.status == StepStatus::crashed)
      problems.push_back({.word = step.status == StepStatus::error ? "ERROR" : "CRASH", .step = &step});
    if (!step.scored) continue;
    const bool has_cause = std::ranges::count(step.checks, Verdict::fail, &CheckResult::verdict) > 0;
    for (const auto& check : step.checks)
      if (auto problem = problem_of(step, check, has_cause)) problems.push_back(std::move(*problem));
  }
  if (record.baseline) add(problems, *record.baseline, record);
  std::ranges::stable_sort(problems, {}, rank);
  return problems;
}

std::string line_of(const Problem& problem) {
  std::string place;
  std::string what;
  if (problem.check != nullptr) {
    place = problem.step->id + " " + title_of(*problem.check);
    what = outcome_of(*problem.check);
  } else if (problem.worse != nullptr) {
    place = fmt::format("{} {}", problem.worse->step, title_of(*problem.worse));
    what = problem.worse->message;
  } else if (problem.diagnostic != nullptr) {
    place = problem.diagnostic->code;
    what = problem.diagnostic->message;
  } else {
    place = problem.step->id;
    what = problem.step->reason.value_or("no reason is known");
  }
  while (place.ends_with(' ')) place.pop_back();
  what.resize(std::min(what.find('\n'), what.size()));
  return place.empty() ? what : fmt::format("{}: {}", place, what);
}

bool is_told_by_step(const Diagnostic& diagnostic) {
  constexpr std::array codes{"S001", "S002", "S003", "S005", "S006", "S007"};
  return std::ranges::find(codes, diagnostic.code) != codes.end();
}

}  // namespace lockstep
