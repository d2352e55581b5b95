#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <lockstep/export.hpp>

#include "runtime/vision_profile.hpp"

namespace gemma4 {

/// The profile that is taken when nothing is said: Gemma 4 E2B, 1056 x 576 pixels.
inline constexpr std::string_view default_profile_name = "e2b_66x36_264";
/// The name of a profile that is given field by field.
inline constexpr std::string_view custom_profile_name = "custom";

/// The profiles that have a name: two for Gemma 4 E2B, four for the shapes checkpoint ("chat": the picture starts where
/// the chat format puts it).
[[nodiscard]] LOCKSTEP_API std::span<const VisionProfile> known_profiles();
/// Throws lockstep::Error that lists the known names, and the nearest one as did_you_mean, if there is no such profile.
[[nodiscard]] LOCKSTEP_API const VisionProfile& find_profile(std::string_view name);

/// The fields of a profile as a user writes them, next to or instead of a name.
struct ProfileFields {
  std::optional<std::int64_t> visual_start_idx = std::nullopt;
  std::optional<std::int64_t> num_visual_tokens = std::nullopt;
  std::optional<std::int64_t> max_soft_tokens = std::nullopt;
  std::optional<std::int64_t> patch_grid_height = std::nullopt;
  std::optional<std::int64_t> patch_grid_width = std::nullopt;
  std::optional<std::int64_t> patch_size = std::nullopt;           ///< default 16
  std::optional<std::int64_t> pooling_kernel_size = std::nullopt;  ///< default 3
  std::optional<std::int64_t> image_height = std::nullopt;         ///< pixels; only compared with the derived value
  std::optional<std::int64_t> image_width = std::nullopt;
};

/// A profile, or everything that is wrong with what the user wrote.
struct ProfileChoice {
  std::optional<VisionProfile> profile;
  std::vector<ProfileViolation> violations;
};

/// A known name selects that profile; a field that is given as well must agree with it. Without a name, or with the
/// name "custom", the fields are the profile (start, token count, capacity and both grid axes are then required);
/// with neither name nor fields it is the default. The profile that comes out keeps its own rules
/// (VisionProfile::find_violation).
[[nodiscard]] LOCKSTEP_API ProfileChoice choose_profile(const std::optional<std::string>& name,
                                                        const ProfileFields& fields);

}  // namespace gemma4
