#include "report/check_text.hpp"

#include <fmt/format.h>

#include "check/messages.hpp"
#include "report/criterion_text.hpp"
#include "report/text.hpp"

namespace lockstep {
namespace {

constexpr int value_digits = 2;
constexpr int element_digits = 4;

bool is_elementwise(Metric metric) { return metric == Metric::close || metric == Metric::bits; }

std::string differing(const CheckResult& check) {
  auto text = fmt::format("{} of {} differ", grouped(check.mismatched), grouped(check.compared));
  if (check.metric == Metric::close) text += fmt::format(" ({})", bound_text(check.bound));
  return text;
}

std::string passed(const CheckResult& check) {
  const auto compared = grouped(check.compared);
  if (check.metric == Metric::expect) return "holds";
  if (check.metric == Metric::equal) return check.compared > 1 ? fmt::format("equal ({})", compared) : "equal";
  if (check.ladder == "bits_equal") return fmt::format("bits equal ({})", compared);
  if (const auto value = value_against_bound(check); !value.empty()) return fmt::format("{} ({})", value, compared);
  if (check.message) return printable(*check.message);
  return fmt::format("{} ({})", check.ladder.value_or("pass"), compared);
}

std::string failed(const CheckResult& check) {
  if (check.metric == Metric::expect || check.ladder == "not_comparable")
    return printable(check.message.value_or("does not hold"));
  if (check.metric == Metric::equal && check.message) return printable(*check.message);
  if (is_elementwise(check.metric) && check.mismatched > 0) return differing(check);
  if (auto value = value_against_bound(check); !value.empty()) return value;
  if (check.message) return printable(*check.message);
  return differing(check);
}

}  // namespace

std::string title_of(const CheckResult& check) {
  return printable(check.subject ? check.name + " " + *check.subject : check.name);
}

std::optional<Limit> limit_of(const CheckResult& check) {
  switch (check.metric) {
    case Metric::close:
      return Limit{1.0, false};  // the value is a multiple of the tolerance
    case Metric::norm_wise:
      return check.bound.k ? std::optional<Limit>({*check.bound.k, false}) : std::nullopt;
    default:
      break;
  }
  if (check.bound.max) return Limit{*check.bound.max, false};
  if (check.bound.min) return Limit{*check.bound.min, true};
  return std::nullopt;
}

std::string value_against_bound(const CheckResult& check) {
  const auto limit = limit_of(check);
  if (!check.value || !limit) return {};
  if (check.metric == Metric::close)
    return fmt::format("{} of the tolerance", number_texts(*check.value, 1, value_digits).first);
  const auto [value, bound] = number_texts(*check.value, limit->bound, value_digits);
  const bool holds = limit->at_least ? *check.value >= limit->bound : *check.value <= limit->bound;
  const auto* relation = limit->at_least ? (holds ? ">=" : "<") : (holds ? "<=" : ">");
  return fmt::format("{} {} {}", value, relation, bound);
}

std::string outcome_of(const CheckResult& check) {
  if (!check.verdict) return "no verdict";
  std::string text;
  switch (*check.verdict) {
    case Verdict::pass:
      text = passed(check);
      break;
    case Verdict::vacuous: {
      constexpr std::string_view vacuous = "nothing was compared";
      text = printable(check.message.value_or(""));
      if (!text.starts_with(vacuous)) text = fmt::format("{}{}{}", vacuous, text.empty() ? "" : ": ", text);
      break;
    }
    case Verdict::fail:
    case Verdict::warn:
      text = failed(check);
      break;
  }
  if (check.level == Level::inform && *check.verdict != Verdict::pass) text += " (inform)";
  return text;
}

std::optional<std::string> worst_of(const CheckResult& check) {
  const bool differs = check.verdict == Verdict::fail || check.verdict == Verdict::warn;
  if (!differs || !check.worst) return std::nullopt;
  const auto& worst = *check.worst;
  if (check.metric == Metric::equal && worst.index.empty()) return std::nullopt;  // the message says it
  const auto [expected, actual] = value_texts(worst.expected, worst.actual, element_digits);
  return printable(fmt::format("worst at {}: expected {}{}, actual {}", shape_text(worst.index), expected,
                               check.expected.empty() ? "" : " (" + check.expected + ")", actual));
}

bool is_unreached(const CheckResult& check) {
  return check.verdict == Verdict::vacuous && !is_fine(check) && check.message == messages::never_performed;
}

bool is_fine(const CheckResult& check) {
  return check.verdict == Verdict::pass || (check.verdict == Verdict::vacuous && check.on_vacuous == OnVacuous::allow);
}

}  // namespace lockstep
