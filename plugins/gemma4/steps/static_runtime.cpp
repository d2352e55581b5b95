#include <lockstep/step.hpp>

#include <fmt/format.h>

#include "checkpoint/checkpoint.hpp"
#include "runtime/faults.hpp"
#include "runtime/known_profiles.hpp"
#include "runtime/layout.hpp"
#include "runtime/static_runtime.hpp"

namespace {
using namespace lockstep;

using Size = Param<std::int64_t>;

Choices fault_names() {
  Choices names{"none"};
  for (const auto& fault : gemma4::known_faults()) names.emplace_back(fault.name);
  return names;
}

/// Builds the native static runtime: the profile is a known one by name, or is given field by field.
struct StaticRuntime final : Step {
  In<gemma4::Checkpoint> checkpoint{*this, "checkpoint", "weights, config, processor settings"};
  Out<gemma4::Runtime> runtime{*this, "runtime", "what is verified"};

  Param<std::string> profile{*this,
                             "profile",
                             fmt::format("known vision profile, or \"{}\"; default: {} unless its fields are given",
                                         gemma4::custom_profile_name, gemma4::default_profile_name),
                             {.optional = true}};
  Size max_seq{*this, "max_seq", "slots of a prompt", {.default_value = 2048, .min = 1, .unit = "tokens"}};
  Param<std::string> dtype{*this,
                           "dtype",
                           "dtype of activations; default: the checkpoint's",
                           {.choices = {"bfloat16", "float32"}, .optional = true}};
  Size visual_start_idx{*this, "visual_start_idx", "first slot of the picture", {.min = 0, .optional = true}};
  Size num_visual_tokens{*this, "num_visual_tokens", "tokens of the picture", {.min = 1, .optional = true}};
  Size max_soft_tokens{*this, "max_soft_tokens", "tokens a picture may have", {.min = 1, .optional = true}};
  Size patch_grid_height{
      *this, "patch_grid_height", "rows of patches", {.min = 1, .unit = "patches", .optional = true}};
  Size patch_grid_width{
      *this, "patch_grid_width", "columns of patches", {.min = 1, .unit = "patches", .optional = true}};
  Size patch_size{
      *this, "patch_size", "side of a patch; 16 if not given", {.min = 1, .unit = "pixels", .optional = true}};
  Size pooling_kernel_size{*this,
                           "pooling_kernel_size",
                           "patches pooled along each axis; 3 if not given",
                           {.min = 1, .unit = "patches", .optional = true}};
  Size image_height{*this,
                    "image_height",
                    "only compared with what the profile gives",
                    {.min = 1, .unit = "pixels", .optional = true}};
  Size image_width{*this,
                   "image_width",
                   "only compared with what the profile gives",
                   {.min = 1, .unit = "pixels", .optional = true}};

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
    const auto choice = choose();
    for (const auto& violation : choice.violations) report(rules, violation);
    if (!choice.profile) return;
    if (const auto violation = choice.profile->find_violation(*max_seq)) report(rules, *violation);
  }

  void run(StepContext& context) override {
    gemma4::StaticRuntimeOptions options{.profile = choose().profile.value(), .max_seq = *max_seq};
    options.mask_fill = *mask_fill;
    options.fault = gemma4::find_fault(*fault).value();
    options.dtype = checkpoint->config().dtype;
    if (dtype.has_value()) options.dtype = *dtype == "float32" ? DType::float32 : DType::bfloat16;
    runtime = gemma4::make_static_runtime(checkpoint.shared(), options);
    context.summary(fmt::format("{}, max_seq {}, {}{}", options.profile.name, options.max_seq, name_of(options.dtype),
                                options.fault == gemma4::Fault::none ? "" : ", with the fault " + *fault));
  }

 private:
  template <class T>
  static std::optional<T> given(const Param<T>& parameter) {
    return parameter.has_value() ? std::optional<T>(*parameter) : std::nullopt;
  }

  gemma4::ProfileChoice choose() const {
    return gemma4::choose_profile(given(profile), {.visual_start_idx = given(visual_start_idx),
                                                   .num_visual_tokens = given(num_visual_tokens),
                                                   .max_soft_tokens = given(max_soft_tokens),
                                                   .patch_grid_height = given(patch_grid_height),
                                                   .patch_grid_width = given(patch_grid_width),
                                                   .patch_size = given(patch_size),
                                                   .pooling_kernel_size = given(pooling_kernel_size),
                                                   .image_height = given(image_height),
                                                   .image_width = given(image_width)});
  }

  void report(Rules& rules, const gemma4::ProfileViolation& violation) const {
    for (const auto* parameter : declarations().parameters) {
      if (parameter->info().name == violation.setting)
        return rules.error(*parameter, violation.message, violation.help);
    }
    rules.error(profile, violation.message, violation.help);
  }
};
}  // namespace

LOCKSTEP_STEP("gemma4.static_runtime", StaticRuntime, "builds the native static-shape Gemma 4 runtime")
