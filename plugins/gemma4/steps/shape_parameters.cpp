#include "steps/shape_parameters.hpp"

#include <optional>

#include <fmt/format.h>

namespace gemma4 {
namespace {

template <class T>
std::optional<T> given(const lockstep::Param<T>& parameter) {
  return parameter.has_value() ? std::optional<T>(*parameter) : std::nullopt;
}

}  // namespace

ShapeParameters::ShapeParameters(lockstep::Step& step)
    : profile(step, "profile",
              fmt::format("known vision profile, or \"{}\"; default: {} unless its fields are given",
                          custom_profile_name, default_profile_name),
              {.optional = true}),
      max_seq(step, "max_seq", "slots of a prompt", {.default_value = 2048, .min = 1, .max = 32768, .unit = "tokens"}),
      dtype(step, "dtype", "dtype of activations; default: the checkpoint's",
            {.choices = {"bfloat16", "float32"}, .optional = true}),
      visual_start_idx(step, "visual_start_idx", "first slot of the picture", {.min = 0, .optional = true}),
      num_visual_tokens(step, "num_visual_tokens", "tokens of the picture", {.min = 1, .optional = true}),
      max_soft_tokens(step, "max_soft_tokens", "tokens a picture may have", {.min = 1, .optional = true}),
      patch_grid_height(step, "patch_grid_height", "rows of patches", {.min = 1, .unit = "patches", .optional = true}),
      patch_grid_width(step, "patch_grid_width", "columns of patches", {.min = 1, .unit = "patches", .optional = true}),
      patch_size(step, "patch_size", "side of a patch; 16 if not given",
                 {.min = 1, .unit = "pixels", .optional = true}),
      pooling_kernel_size(step, "pooling_kernel_size", "patches pooled along each axis; 3 if not given",
                          {.min = 1, .unit = "patches", .optional = true}),
      image_height(step, "image_height", "only compared with what the profile gives",
                   {.min = 1, .unit = "pixels", .optional = true}),
      image_width(step, "image_width", "only compared with what the profile gives",
                  {.min = 1, .unit = "pixels", .optional = true}),
      step_(step) {}

void ShapeParameters::validate(lockstep::Rules& rules) const {
  const auto choice = choose();
  for (const auto& violation : choice.violations) report(rules, violation);
  if (!choice.profile) return;
  if (const auto violation = choice.profile->find_violation(*max_seq)) report(rules, *violation);
}

VisionProfile ShapeParameters::chosen_profile() const { return choose().profile.value(); }

lockstep::DType ShapeParameters::dtype_or(lockstep::DType otherwise) const {
  if (!dtype.has_value()) return otherwise;
  return *dtype == "float32" ? lockstep::DType::float32 : lockstep::DType::bfloat16;
}

ProfileChoice ShapeParameters::choose() const {
  return choose_profile(given(profile), {.visual_start_idx = given(visual_start_idx),
                                         .num_visual_tokens = given(num_visual_tokens),
                                         .max_soft_tokens = given(max_soft_tokens),
                                         .patch_grid_height = given(patch_grid_height),
                                         .patch_grid_width = given(patch_grid_width),
                                         .patch_size = given(patch_size),
                                         .pooling_kernel_size = given(pooling_kernel_size),
                                         .image_height = given(image_height),
                                         .image_width = given(image_width)});
}

void ShapeParameters::report(lockstep::Rules& rules, const ProfileViolation& violation) const {
  for (const auto* parameter : step_.declarations().parameters) {
    if (parameter->info().name == violation.setting) {
      return rules.error(*parameter, violation.message, violation.help);
    }
  }
  rules.error(profile, violation.message, violation.help);
}

}  // namespace gemma4
