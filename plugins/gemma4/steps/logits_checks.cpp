#include "steps/logits_checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include <ATen/TensorOperators.h>
#include <ATen/ops/tanh.h>
#include <fmt/format.h>

#include <lockstep/torch.hpp>

namespace gemma4 {
namespace {

using namespace lockstep;

double value_of(const CheckResult& result, std::string_view statistic) {
  for (const auto& [name, value] : result.statistics) {
    if (name == statistic) return value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// Distance from `value` to the next larger number of the dtype; NaN if `value` is not finite.
double spacing_at(double value, DType dtype) {
  if (!std::isfinite(value)) return std::numeric_limits<double>::quiet_NaN();
  const int significand_bits = dtype == DType::bfloat16 ? 7 : 23;
  return value == 0 ? 0 : std::ldexp(1.0, std::ilogb(value) - significand_bits);
}

template <class Entry>
bool with_subject(Check& check, const std::string& subject, const Entry& entry) {
  return subject.empty() ? entry(check) : [&] {
    auto at = check.at(subject);
    return entry(at);
  }();
}

}  // namespace

TopTwo top_two(const Tensor& logits) {
  // Not topk: of three equal values it may leave out the first, which arg max takes.
  const auto values = to_torch(logits).to(at::kFloat).flatten().contiguous();
  const std::span<const float> row(values.const_data_ptr<float>(), static_cast<std::size_t>(values.numel()));
  const auto first = std::ranges::max_element(row);
  const auto before = std::max_element(row.begin(), first);
  const auto behind = std::max_element(first + 1, row.end());
  const auto second = before == first || (behind != row.end() && *behind > *before) ? behind : before;
  TopTwo top{
      .first = first - row.begin(), .second = second - row.begin(), .gap = static_cast<double>(*first) - *second};
  const auto spacing = spacing_at(*first, logits.dtype());
  top.spacings = spacing > 0 ? top.gap / spacing : 0;
  return top;
}

std::string margin_text(const TopTwo& top, DType dtype) {
  return fmt::format("{} (margin {:.4g}, {:.4g} spacings of {})", top.first, top.gap, top.spacings, name_of(dtype));
}

LogitsOutcome logits_outcome(const CheckResult& result, bool within_bound, const Tensor& expected,
                             const Tensor& actual) {
  LogitsOutcome outcome{.within_bound = within_bound};
  outcome.max_abs = value_of(result, "max_abs");
  outcome.bound = result.bound.k.value_or(0) * to_torch(expected).abs().max().item().toDouble();
  outcome.expected = top_two(expected);
  outcome.actual = top_two(actual);
  outcome.same_token = outcome.expected.first == outcome.actual.first;
  const auto row = to_torch(expected).flatten();
  const auto lead = row[outcome.expected.first].item().toDouble() - row[outcome.actual.first].item().toDouble();
  outcome.near_tie = !outcome.same_token && outcome.within_bound && lead <= outcome.max_abs;
  return outcome;
}

std::string token_message(const LogitsOutcome& outcome, DType dtype) {
  return fmt::format("the arg max is {}, expected {}; the largest error is {:.4g}", margin_text(outcome.actual, dtype),
                     margin_text(outcome.expected, dtype), outcome.max_abs);
}

LogitsChecks::LogitsChecks(Step& step)
    : logits_(step, "logits", norm_wise(), "reference's logits"),
      softcap_(step, "softcap", bits(), "cap * tanh(x / cap) of the runtime's own raw logits, three roundings"),
      same_token_(step, "same_token", expect(), "reference's arg max, unless its margin is smaller than the error"),
      near_tie_(step, "near_tie", expect(), "no arg max differs where the margin is smaller than the error",
                Level::inform),
      peir_(step, "logits_peir", peir(0.02), "reference's logits", Level::inform),
      mean_abs_(step, "logits_mean_abs", lockstep::mean_abs(0.1), "reference's logits", Level::inform),
      cosine_(step, "logits_cosine", cosine(0.999), "reference's logits", Level::inform),
      kl_(step, "logits_kl", kl(0.01), "reference's probabilities", Level::inform),
      top_5_(step, "logits_top_5", topk(5), "reference's five largest logits", Level::inform) {}

LogitsChecks::Outcome LogitsChecks::compare(const Tensor& expected, const Tensor& actual, const std::string& subject,
                                            bool judge_token) {
  const auto compare_by = [&](Check& check) {
    return with_subject(check, subject, [&](auto& entry) { return entry.compare(Expected{expected}, Actual{actual}); });
  };
  Outcome outcome;
  outcome.within_bound = compare_by(logits_);
  for (auto* check : {&peir_, &mean_abs_, &cosine_, &kl_, &top_5_}) compare_by(*check);
  if (expected.sizes() != actual.sizes()) return outcome;

  outcome = logits_outcome(logits_.results().back(), outcome.within_bound, expected, actual);
  if (!judge_token) return outcome;

  const auto message = token_message(outcome, expected.dtype());
  with_subject(same_token_, subject,
               [&](auto& entry) { return entry.expect(outcome.same_token || outcome.near_tie, message); });
  with_subject(near_tie_, subject, [&](auto& entry) { return entry.expect(!outcome.near_tie, message); });
  return outcome;
}

void LogitsChecks::compare_softcap(const Tensor& raw, const Tensor& actual, double cap, const std::string& subject) {
  const auto expected = at::tanh(to_torch(raw) / cap) * cap;
  with_subject(softcap_, subject, [&](auto& entry) { return entry.compare(Expected{expected}, Actual{actual}); });
}

void LogitsChecks::leave_out_softcap() { softcap_.configure({.level = Level::off}); }

}  // namespace gemma4
