#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <lockstep/step.hpp>

#include "checkpoint/text_tensors.hpp"
#include "reference/reference.hpp"

namespace gemma4 {

/// What a runtime shows of one decode step; what it does not show is empty.
struct DecodeInner {
  AttentionMasks masks;
  RopeTables rope;
  std::optional<lockstep::Tensor> logits_raw;
};
/// Fills `inner`, which outlives the visitor.
[[nodiscard]] lockstep::TensorVisitor collecting(DecodeInner& inner);

/// The checks of masks and rope of single tokens. Members of the step declare themselves.
class StepInputChecks {
 public:
  explicit StepInputChecks(lockstep::Step& step);

  /// The cache holds `length` positions before the token, which comes last among `slots` keys.
  void compare(const DecodeInner& inner, const Reference& reference, std::int64_t slots, std::int64_t length,
               const std::string& subject);
  /// A runtime that cannot look inside is judged by its logits and its cache.
  void leave_out_what_was_not_shown();

 private:
  lockstep::Check mask_;
  lockstep::Check rope_;
};

}  // namespace gemma4
