#pragma once

#include <cstdint>
#include <string>

#include <lockstep/step.hpp>

namespace gemma4 {

/// The two largest of a row of logits; of equal ones the first is the larger.
struct TopTwo {
  std::int64_t first = 0;
  std::int64_t second = 0;
  double gap = 0;       ///< between their values
  double spacings = 0;  ///< the gap in spacings of the dtype at the larger value
};
/// logits [1, V] or [1, 1, V], of bfloat16 or float32, at least two.
[[nodiscard]] TopTwo top_two(const lockstep::Tensor& logits);

/// What a comparison of two rows of logits says of them.
struct LogitsOutcome {
  bool within_bound = false;  ///< the comparison passed
  bool same_token = false;    ///< the arg max agrees
  bool near_tie = false;      ///< it does not, but the reference's gap is smaller than the error
  double max_abs = 0;         ///< max |a - e|
  double bound = 0;           ///< of max_abs: k * max |e|
  TopTwo expected;
  TopTwo actual;
};
/// `result` is that of the norm-wise comparison of both, of one shape.
[[nodiscard]] LogitsOutcome logits_outcome(const lockstep::CheckResult& result, bool within_bound,
                                           const lockstep::Tensor& expected, const lockstep::Tensor& actual);
/// Both tokens with their margins, and the error.
[[nodiscard]] std::string token_message(const LogitsOutcome& outcome, lockstep::DType dtype);

/// The checks of a step that compares the logits of one position. Members of the step declare themselves in this order.
class LogitsChecks {
 public:
  explicit LogitsChecks(lockstep::Step& step);

  using Outcome = LogitsOutcome;
  /// expected and actual: T [1, V]. `subject` may be empty. `judge_token` false: a differing arg max is no finding.
  Outcome compare(const lockstep::Tensor& expected, const lockstep::Tensor& actual, const std::string& subject,
                  bool judge_token = true);
  /// The softcap alone: `raw` logits as the runtime shows them, `actual` what it made of them; transformers' division,
  /// tanh and product round to T one by one.
  void compare_softcap(const lockstep::Tensor& raw, const lockstep::Tensor& actual, double cap,
                       const std::string& subject);
  /// The runtime shows no raw logits, or the model has no softcap.
  void leave_out_softcap();
  /// The check of the logits themselves, which fails where the runtime has none.
  [[nodiscard]] lockstep::Check& logits() noexcept { return logits_; }

 private:
  lockstep::Check logits_;
  lockstep::Check softcap_;
  lockstep::Check same_token_;
  lockstep::Check near_tie_;
  lockstep::Check peir_;
  lockstep::Check mean_abs_;
  lockstep::Check cosine_;
  lockstep::Check kl_;
  lockstep::Check top_5_;
};

/// "17 (margin 0.5, 4 spacings of bfloat16)"
[[nodiscard]] std::string margin_text(const TopTwo& top, lockstep::DType dtype);

}  // namespace gemma4
