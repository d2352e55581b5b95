#pragma once

#include <string>

#include <lockstep/step.hpp>

#include "steps/runtime_passes.hpp"

namespace gemma4 {

/// The two checks of a step that compares one pass of a runtime with another of the same prompt: `<name>_logits` and
/// `<name>_cache`. Members of the step declare themselves.
class PassChecks {
 public:
  /// `expected` completes "logits of …".
  PassChecks(lockstep::Step& step, const std::string& name, const lockstep::Criterion& criterion,
             const std::string& expected);

  /// The logits, and the valid slots of every layer's cache.
  void compare(const std::string& subject, const Pass& expected, const Pass& actual);
  /// Both are off: they cannot be performed.
  void leave_out();

 private:
  lockstep::Check logits_;
  lockstep::Check cache_;
};

}  // namespace gemma4
