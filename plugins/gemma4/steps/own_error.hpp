#pragma once

#include <string>
#include <string_view>

#include <lockstep/step.hpp>

#include "checkpoint/text_tensors.hpp"
#include "runtime/not_served.hpp"

namespace gemma4 {

/// The second comparison of a step with `feed = "reference"`: the runtime gets the reference's inputs in place of what
/// the stages before handed on. What is wrong there is wrong here; what is right there, though the step fails, is
/// inherited. Declares the parameter `feed` and the check `own_error`.
class OwnError {
 public:
  explicit OwnError(lockstep::Step& step);

  /// First in `run`: whether the parameter asks for it. If not, the check is left out.
  bool begin();
  /// Runs the second comparison. A runtime that has no answer for other inputs than its own is left out.
  template <class Compare>
  void run(const Compare& compare) {
    try {
      compare();
    } catch (const NotServed& missing) {
      leave_out(missing);
    }
  }

  /// One entry each; true if it passed. `judge_token`: as LogitsChecks does.
  bool logits(const lockstep::Tensor& expected, const lockstep::Tensor& actual, const std::string& subject,
              bool judge_token = true);
  bool tensor(const lockstep::Tensor& expected, const lockstep::Tensor& actual, const std::string& subject);
  bool expect(bool condition, const std::string& message, const std::string& subject);
  /// As CacheChecks does.
  void cache(const KvCache& expected, const KvCache& actual, const std::string& subject);
  /// When all checks of the step are done: "wrong here", "inherited", or "" where nothing fails or nothing was asked.
  [[nodiscard]] std::string_view origin() const;
  /// The step's summary with the origin behind it; the origin is in the record as well.
  void summarize(lockstep::StepContext& context, const std::string& summary) const;

 private:
  void leave_out(const NotServed& missing);

  lockstep::Step& step_;
  lockstep::Param<std::string> feed_;
  lockstep::Check check_;
  bool wrong_ = false;
  std::string not_fed_;  // why, if the runtime has no answer
};

}  // namespace gemma4
