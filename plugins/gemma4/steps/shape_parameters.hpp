#pragma once

#include <cstdint>
#include <string>

#include <lockstep/step.hpp>

#include "runtime/known_profiles.hpp"
#include "runtime/vision_profile.hpp"

namespace gemma4 {

/// The parameters that fix a runtime's shapes, for steps that publish one: the profile is a known one by name, or is
/// given field by field.
class ShapeParameters {
  using Size = lockstep::Param<std::int64_t>;

 public:
  explicit ShapeParameters(lockstep::Step& step);

  /// For Step::validate: everything that is wrong with the profile and max_seq.
  void validate(lockstep::Rules& rules) const;
  /// After validate found nothing.
  [[nodiscard]] VisionProfile chosen_profile() const;
  [[nodiscard]] lockstep::DType dtype_or(lockstep::DType otherwise) const;

  lockstep::Param<std::string> profile;
  Size max_seq;
  lockstep::Param<std::string> dtype;
  Size visual_start_idx, num_visual_tokens, max_soft_tokens;
  Size patch_grid_height, patch_grid_width, patch_size, pooling_kernel_size;
  Size image_height, image_width;

 private:
  [[nodiscard]] ProfileChoice choose() const;
  void report(lockstep::Rules& rules, const ProfileViolation& violation) const;

  const lockstep::Step& step_;
};

}  // namespace gemma4
