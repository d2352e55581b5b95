#include <lockstep/step.hpp>

#include "count.hpp"

namespace {
using namespace lockstep;

struct Counter final : Step {
  Param<std::int64_t> start{*this, "start", "first value", {.default_value = 41}};
  Out<counting::Count> count{*this, "count", "start + 1"};

  void run(StepContext&) override { count = static_cast<int>(*start) + 1; }
};
}  // namespace

LOCKSTEP_STEP("good.counter", Counter, "Counts one step further")
