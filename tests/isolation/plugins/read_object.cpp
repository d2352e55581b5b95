#include <unistd.h>

#include <lockstep/step.hpp>

#include "object.hpp"

namespace {
using namespace lockstep;

/// Compares what an object holds.
struct ReadObject final : Step {
  In<iso::Object> object{*this, "object", "from make_object"};
  Param<std::int64_t> expected{*this, "expected", "what it should hold"};
  Check value{*this, "value", equal(), "what it should hold"};
  Check made_here{*this, "made_here", equal(), "this process", Level::inform};

  void run(StepContext&) override {
    value.equal(Expected{*expected}, Actual{object->value});
    made_here.equal(Expected{std::int64_t{getpid()}}, Actual{object->process});
  }
};
}  // namespace

LOCKSTEP_STEP("iso.read_object", ReadObject, "reads an object")
