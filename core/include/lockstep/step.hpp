#pragma once

#include <string>
#include <vector>

#include <lockstep/check.hpp>
#include <lockstep/context.hpp>
#include <lockstep/diagnostic.hpp>
#include <lockstep/parameter.hpp>
#include <lockstep/port.hpp>
#include <lockstep/tensor.hpp>

namespace lockstep {

/// One stage of a pipeline. Members declare themselves to it; construction only declares and must be cheap.
///
/// A complete step (docs/tutorial.md builds it):
/// ```cpp
/// #include <lockstep/step.hpp>
///
/// namespace {
/// using namespace lockstep;
///
/// /// Compares two tensors of one name.
/// struct CompareOne final : Step {
///   In<Tensor> actual{*this, "actual", "what is verified"};
///   In<Tensor> expected{*this, "expected", "what is right"};
///   Check matches{*this, "matches", close(), "the expected tensor"};
///
///   void run(StepContext&) override { matches.compare(Expected{*expected}, Actual{*actual}); }
/// };
/// }  // namespace
///
/// LOCKSTEP_STEP("mine.compare_one", CompareOne)
/// ```
/// One object serves one run of one step, on one thread.
class LOCKSTEP_API Step {
 public:
  Step();
  virtual ~Step();
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  /// Rules between parameters, called before anything runs; opens no model.
  virtual void validate(Rules& rules) const;
  /// Computes, compares, publishes. What it throws makes the step an ERROR.
  virtual void run(StepContext& context) = 0;

  /// What the members declared, in their order.
  struct Declarations {
    std::vector<InPort*> inputs;
    std::vector<OutPort*> outputs;
    std::vector<ParamBase*> parameters;
    std::vector<Check*> checks;
  };
  [[nodiscard]] const Declarations& declarations() const noexcept { return declarations_; }

 private:
  friend class InPort;
  friend class OutPort;
  friend class ParamBase;
  friend class Check;
  Declarations declarations_;
};

}  // namespace lockstep

#include <lockstep/plugin.hpp>  // IWYU pragma: export (LOCKSTEP_STEP)
