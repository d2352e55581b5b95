#include <lockstep/step.hpp>

#include <fmt/format.h>

#include "checkpoint/checkpoint.hpp"
#include "runtime/recorded_runtime.hpp"
#include "runtime/stages.hpp"
#include "runtime/static_runtime.hpp"
#include "steps/shape_parameters.hpp"

namespace {
using namespace lockstep;

/// Publishes what a device or another program computed as the runtime to verify: every stage is answered from dumped
/// tensors. docs/your-runtime.md says how they are named.
struct RecordedRuntime final : Step {
  In<gemma4::Checkpoint> checkpoint{*this, "checkpoint", "layers, stop tokens, and the dtype where none is given"};
  Out<gemma4::Runtime> runtime{*this, "runtime", "what is verified"};

  Param<FolderPath> dump{*this, "dump",
                         "folder of safetensors files: of 'lockstep run --dump', or with tensors named "
                         "<stage>.<output>"};
  Param<std::vector<std::string>> require{
      *this,
      "require",
      "stages that fail when the dump lacks their tensors, and those that they read from; the others are skipped. "
      "Default: all that the pipeline verifies",
      {.choices = {gemma4::stage_names.begin(), gemma4::stage_names.end()}, .optional = true}};
  gemma4::ShapeParameters shape{*this};
  Param<double> mask_fill{*this,
                          "mask_fill",
                          "what its masks hold where a position may not attend: finite and negative",
                          {.default_value = -120}};

  void validate(Rules& rules) const override {
    if (!gemma4::is_mask_fill(*mask_fill)) {
      rules.error(mask_fill, fmt::format("mask_fill is {}, expected a finite negative number", *mask_fill),
                  "the default is -120");
    }
    shape.validate(rules);
  }

  void run(StepContext& context) override {
    auto opened = gemma4::RuntimeDump::open(dump->path);
    const std::vector<std::string> all(gemma4::stage_names.begin(), gemma4::stage_names.end());
    auto options = gemma4::recorded_runtime_options(*checkpoint);
    options.profile = shape.chosen_profile();
    options.max_seq = *shape.max_seq;
    options.dtype = shape.dtype_or(options.dtype);
    options.mask_fill = *mask_fill;
    options.required = gemma4::with_earlier_stages(require.has_value() ? *require : all);
    context.summary(fmt::format("{} dumped tensors; {}, max_seq {}, {}", opened.size(), options.profile.name,
                                options.max_seq, name_of(options.dtype)));
    runtime = gemma4::make_recorded_runtime(std::move(opened), options);
  }
};
}  // namespace

LOCKSTEP_STEP("gemma4.recorded_runtime", RecordedRuntime, "a runtime that ran elsewhere, served from dumped tensors")
