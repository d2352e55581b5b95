#include <lockstep/check.hpp>

#include <fmt/format.h>

#include <lockstep/step.hpp>

#include "check/compare.hpp"
#include "check/messages.hpp"

namespace lockstep {

Check::Check(Step& step, std::string name, Criterion criterion, std::string doc, Level level)
    : info_{std::move(name), criterion, level, std::move(doc)}, settings_{.bound = criterion.bound, .level = level} {
  step.declarations_.checks.push_back(this);
}

Check::At Check::at(std::string_view what, std::int64_t index) { return {*this, fmt::format("{} {}", what, index)}; }
Check::At Check::at(std::string subject) { return {*this, std::move(subject)}; }

void Check::close_if_never_performed() {
  if (!results_.empty()) return;
  CheckResult result;
  result.metric = info_.criterion.metric;
  result.bound = settings_.bound;
  result.verdict = Verdict::vacuous;
  result.message = std::string(messages::never_performed);
  add(std::nullopt, std::move(result));
}

bool Check::add_tensors(std::optional<std::string> subject, const Tensor& expected, const Tensor& actual) {
  if (settings_.level == Level::off) return true;
  return add_tensors(std::move(subject), expected, actual, {info_.criterion.metric, settings_.bound},
                     settings_.bound_source);
}

bool Check::add_tensors(std::optional<std::string> subject, const Tensor& expected, const Tensor& actual,
                        const Criterion& criterion, std::string bound_source) {
  if (settings_.level == Level::off) return true;
  return add(std::move(subject), lockstep::compare(expected, actual, criterion, {.non_finite = settings_.non_finite}),
             std::move(bound_source));
}

bool Check::add_values(std::optional<std::string> subject, const Value& expected, const Value& actual) {
  if (settings_.level == Level::off) return true;
  return add(std::move(subject), lockstep::compare(expected, actual, {.non_finite = settings_.non_finite}));
}

bool Check::add_condition(std::optional<std::string> subject, bool condition, std::string message) {
  if (settings_.level == Level::off) return true;
  CheckResult result;
  result.metric = Metric::expect;
  result.verdict = condition ? Verdict::pass : Verdict::fail;
  result.compared = 1;
  result.mismatched = condition ? 0 : 1;
  if (!condition) result.message = std::move(message);
  return add(std::move(subject), std::move(result));
}

bool Check::add(std::optional<std::string> subject, CheckResult result) {
  return add(std::move(subject), std::move(result), settings_.bound_source);
}

bool Check::add(std::optional<std::string> subject, CheckResult result, std::string bound_source) {
  if (settings_.level == Level::off) return true;
  result.name = info_.name;
  result.subject = std::move(subject);
  result.level = settings_.level;
  result.on_vacuous = settings_.on_vacuous;
  result.bound_source = std::move(bound_source);
  result.expected = info_.doc;
  if (result.verdict == Verdict::fail && settings_.level == Level::inform) result.verdict = Verdict::warn;
  const bool good = result.verdict != Verdict::fail && result.verdict != Verdict::warn;
  results_.push_back(std::move(result));
  return good;
}

}  // namespace lockstep
