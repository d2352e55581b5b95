#include "report/problems.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/check_text.hpp"
#include "report/run_text.hpp"
#include "report/step_text.hpp"
#include "report/text.hpp"

namespace lockstep {
namespace {

/// "file:line:column", not "default" nor what came from the command line.
bool is_place(std::string_view text) {
  if (text.starts_with("--")) return false;
  const auto number_at_end = [&text] {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size()) return false;
    const bool number = text.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
    text = text.substr(0, colon);
    return number;
  };
  return number_at_end() && number_at_end();
}

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

RowFailure in_words(const Problem& problem) {
  RowFailure result{.word = problem.word};
  if (problem.step != nullptr) {
    result.step = printable(problem.step->id);
    if (is_place(problem.step->location)) result.location = problem.step->location;
  }
  std::string help;
  if (problem.check != nullptr) {
    result.check = title_of(*problem.check);
    result.message = fmt::format("{}", fmt::join(check_lines(*problem.check, false), "\n"));
    if (is_place(problem.check->bound_source)) result.location = problem.check->bound_source;
  } else if (problem.worse != nullptr) {
    result.step = printable(problem.worse->step);
    result.check = printable(title_of(*problem.worse));
    result.message = printable(problem.worse->message);
  } else if (problem.diagnostic != nullptr) {
    const auto& diagnostic = *problem.diagnostic;
    result.check = diagnostic.code;
    result.message = printable(diagnostic.message);
    if (!diagnostic.did_you_mean.empty())
      result.message += fmt::format("\ndid you mean '{}'?", printable(diagnostic.did_you_mean));
    help = diagnostic.help;
    const auto place = diagnostic.location.to_string();
    if (!place.starts_with("--") && !place.starts_with("command line")) result.location = place;
  } else {
    const auto reason = lines_of(problem.step->reason.value_or("no reason is known"));
    result.message = fmt::format("{}", fmt::join(reason, "\n"));
    help = problem.step->help.value_or("");
  }
  if (!help.empty()) result.message += "\nhelp: " + printable(help);
  const bool of_step = problem.check == nullptr && problem.worse == nullptr && problem.step != nullptr;
  if (of_step)
    for (const auto& line : problem.step->output_tail) result.message += "\n| " + printable(line);
  return result;
}

std::string title_of(const RowFailure& failure) {
  if (failure.step.empty()) return failure.check.empty() ? "lockstep" : failure.check;
  if (failure.check.empty()) return fmt::format("{}: {}", failure.step, failure.word);
  const auto* worse = failure.word == "worse" ? " is worse than the baseline" : "";
  return fmt::format("{}: {}{}", failure.step, failure.check, worse);
}

bool is_told_by_step(const Diagnostic& diagnostic) {
  constexpr std::array codes{"S001", "S002", "S003", "S005", "S006", "S007"};
  return std::ranges::find(codes, diagnostic.code) != codes.end();
}

}  // namespace lockstep
