#include <lockstep/step.hpp>

#include <fmt/format.h>

#include "checkpoint/checkpoint.hpp"
#include "runtime/faults.hpp"
#include "runtime/static_runtime.hpp"
#include "steps/shape_parameters.hpp"

namespace {
using namespace lockstep;

Choices fault_names() {
  Choices names{"none"};
  for (const auto& fault : gemma4::known_faults()) names.emplace_back(fault.name);
  return names;
}

/// Builds the native static runtime: the profile is a known one by name, or is given field by field.
struct StaticRuntime final : Step {
  In<gemma4::Checkpoint> checkpoint{*this, "checkpoint", "weights, config, processor settings"};
  Out<gemma4::Runtime> runtime{*this, "runtime", "what is verified"};

  gemma4::ShapeParameters shape{*this};
  Param<double> mask_fill{*this,
                          "mask_fill",
                          "added to the scores of pairs that do not attend: finite and negative",
                          {.default_value = -120}};
  Param<std::string> fault{*this,
                           "fault",
                           "for tests of the verifier only: a mistake to put into the runtime's arithmetic",
                           {.default_value = "none", .choices = fault_names()}};

  void validate(Rules& rules) const override {
    if (!gemma4::is_mask_fill(*mask_fill)) {
      rules.error(mask_fill, fmt::format("mask_fill is {}, expected a finite negative number", *mask_fill),
                  "the default is -120");
    }
    shape.validate(rules);
  }

  void run(StepContext& context) override {
    gemma4::StaticRuntimeOptions options{.profile = shape.chosen_profile(), .max_seq = *shape.max_seq};
    options.mask_fill = *mask_fill;
    options.fault = gemma4::find_fault(*fault).value();
    options.dtype = shape.dtype_or(checkpoint->config().dtype);
    runtime = gemma4::make_static_runtime(checkpoint.shared(), options);
    context.summary(fmt::format("{}, max_seq {}, {}{}", options.profile.name, options.max_seq, name_of(options.dtype),
                                options.fault == gemma4::Fault::none ? "" : ", with the fault " + *fault));
  }
};
}  // namespace

LOCKSTEP_STEP("gemma4.static_runtime", StaticRuntime, "builds the native static-shape Gemma 4 runtime")
