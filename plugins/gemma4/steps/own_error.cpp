#include "steps/own_error.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "steps/cache_checks.hpp"
#include "steps/logits_checks.hpp"

namespace gemma4 {
namespace {

using namespace lockstep;

/// Checks that look at nothing that another stage handed on.
constexpr std::array<std::string_view, 7> self_contained{"activation", "greedy",    "layer_mask", "room",
                                                         "softcap",    "step_mask", "step_rope"};

bool failed(const Check& check) {
  return std::ranges::any_of(check.results(),
                             [](const CheckResult& result) { return result.verdict == Verdict::fail; });
}

std::string joined(const std::string& subject, std::string_view what) {
  return fmt::format("{}{}{}", subject, subject.empty() ? "" : " ", what);
}

}  // namespace

OwnError::OwnError(Step& step)
    : step_(step),
      feed_(step, "feed",
            "reference: a second comparison in which the runtime gets the reference's inputs tells what is wrong here "
            "from what is inherited",
            {.default_value = "cumulative", .choices = {"cumulative", "reference"}}),
      check_(step, "own_error", norm_wise(), "reference's values, from the reference's inputs (feed = \"reference\")") {
}

bool OwnError::begin() {
  const bool wanted = *feed_ == "reference";
  if (!wanted) check_.configure({.level = Level::off});
  return wanted;
}

void OwnError::leave_out(const NotServed& missing) {
  not_fed_ = missing.diagnostic().message;
  check_.configure({.level = Level::off});
}

bool OwnError::logits(const Tensor& expected, const Tensor& actual, const std::string& subject, bool judge_token) {
  const bool good = tensor(expected, actual, joined(subject, "logits"));
  if (!judge_token || expected.sizes() != actual.sizes()) return good;
  const auto outcome = logits_outcome(check_.results().back(), good, expected, actual);
  const bool same = outcome.same_token || outcome.near_tie;
  return expect(same, same ? "" : token_message(outcome, expected.dtype()), joined(subject, "token")) && good;
}

bool OwnError::tensor(const Tensor& expected, const Tensor& actual, const std::string& subject) {
  const bool good = check_.at(subject).compare(Expected{expected}, Actual{actual});
  wrong_ = wrong_ || !good;
  return good;
}

bool OwnError::expect(bool condition, const std::string& message, const std::string& subject) {
  wrong_ = wrong_ || !condition;
  return check_.at(subject).expect(condition, message);
}

void OwnError::cache(const KvCache& expected, const KvCache& actual, const std::string& subject) {
  if (!expect(expected.length == actual.length,
              fmt::format("the cache has {} positions, expected {}", actual.length, expected.length),
              joined(subject, "cache length"))) {
    return;
  }
  for (const auto& layer : expected.layers) {
    const auto name = joined(subject, fmt::format("cache layer {}", layer.index));
    const auto kept = kept_positions(layer, actual);
    if (!kept.missing.empty()) {
      expect(false, kept.missing, name);
      continue;
    }
    tensor(layer.key, kept.key, name + " keys");
    tensor(layer.value, kept.value, name + " values");
  }
}

std::string_view OwnError::origin() const {
  if (*feed_ != "reference" || !not_fed_.empty()) return {};
  bool any = false;
  for (const auto* check : step_.declarations().checks) {
    if (check == &check_ || !failed(*check)) continue;
    any = true;
    if (std::ranges::find(self_contained, check->info().name) != self_contained.end()) return "wrong here";
  }
  if (wrong_) return "wrong here";
  return any ? "inherited" : "";
}

void OwnError::summarize(StepContext& context, const std::string& summary) const {
  if (!not_fed_.empty()) return context.summary(fmt::format("{}; not fed: {}", summary, not_fed_));
  const auto found = origin();
  if (found.empty()) return context.summary(summary);
  context.record("origin", std::string(found));
  context.summary(
      fmt::format("{}; {}{}", summary, found, found == "inherited" ? ": right with the reference's inputs" : ""));
}

}  // namespace gemma4
