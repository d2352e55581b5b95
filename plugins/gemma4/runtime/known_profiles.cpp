#include "runtime/known_profiles.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lockstep/diagnostic.hpp>

namespace gemma4 {
namespace {

using Field = std::optional<std::int64_t> ProfileFields::*;
using Stored = std::int64_t VisionProfile::*;

struct StoredField {
  const char* setting;
  Field given;
  Stored stored;
  bool required;  ///< of a profile without a known name
};

constexpr std::array<StoredField, 7> stored_fields{{
    {"visual_start_idx", &ProfileFields::visual_start_idx, &VisionProfile::visual_start_idx, true},
    {"num_visual_tokens", &ProfileFields::num_visual_tokens, &VisionProfile::num_visual_tokens, true},
    {"max_soft_tokens", &ProfileFields::max_soft_tokens, &VisionProfile::max_soft_tokens, true},
    {"patch_grid_height", &ProfileFields::patch_grid_height, &VisionProfile::patch_grid_height, true},
    {"patch_grid_width", &ProfileFields::patch_grid_width, &VisionProfile::patch_grid_width, true},
    {"patch_size", &ProfileFields::patch_size, &VisionProfile::patch_size, false},
    {"pooling_kernel_size", &ProfileFields::pooling_kernel_size, &VisionProfile::pooling_kernel_size, false},
}};

VisionProfile profile_of(std::string name, std::int64_t grid_width, std::int64_t grid_height, std::int64_t tokens,
                         std::int64_t max_soft_tokens, std::int64_t start) {
  return {.name = std::move(name),
          .visual_start_idx = start,
          .num_visual_tokens = tokens,
          .max_soft_tokens = max_soft_tokens,
          .patch_grid_height = grid_height,
          .patch_grid_width = grid_width};
}

bool any_given(const ProfileFields& fields) {
  for (const auto& field : stored_fields) {
    if (fields.*field.given) return true;
  }
  return fields.image_height || fields.image_width;
}

void require_derived(ProfileChoice& choice, const char* setting, std::optional<std::int64_t> given,
                     std::int64_t derived, std::string_view grid_axis) {
  if (!given || *given == derived) return;
  choice.violations.push_back(
      {setting,
       fmt::format("{} is {}, but {} {} of profile '{}' gives {} pixels", setting, *given, grid_axis,
                   derived / choice.profile->patch_size, choice.profile->name, derived),
       fmt::format("set {} to {}, or leave it out", setting, derived)});
}

}  // namespace

std::span<const VisionProfile> known_profiles() {
  // Starts: 1 after a bare <|image> token, 5 after the chat format's <bos><|turn>user\n<|image>.
  static const std::array<VisionProfile, 6> profiles{
      profile_of(std::string(default_profile_name), 66, 36, 264, 280, 1),
      profile_of("e2b_57x42_266", 57, 42, 266, 280, 1),
      profile_of("shapes_24x24_64", 24, 24, 64, 70, 1),
      profile_of("shapes_24x24_64_chat", 24, 24, 64, 70, 5),
      profile_of("shapes_30x21_70", 30, 21, 70, 70, 1),
      profile_of("shapes_39x15_65_chat", 39, 15, 65, 70, 5),
  };
  return profiles;
}

const VisionProfile& find_profile(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& profile : known_profiles()) {
    if (profile.name == name) return profile;
    names.push_back(profile.name);
  }
  throw lockstep::Error{lockstep::Diagnostic{
      .message = fmt::format("unknown vision profile '{}', known are {}", name, fmt::join(names, ", ")),
      .did_you_mean = lockstep::did_you_mean(name, names),
      .help = fmt::format("set profile to a known name, or to '{}' together with the fields of a profile of your own",
                          custom_profile_name)}};
}

ProfileChoice choose_profile(const std::optional<std::string>& name, const ProfileFields& fields) {
  ProfileChoice choice;
  const bool custom = name ? *name == custom_profile_name : any_given(fields);
  if (custom) {
    VisionProfile profile{.name = std::string(custom_profile_name)};
    for (const auto& field : stored_fields) {
      if (const auto& given = fields.*field.given) {
        profile.*field.stored = *given;
      } else if (field.required) {
        choice.violations.push_back({field.setting,
                                     fmt::format("a profile without a known name needs {}", field.setting),
                                     fmt::format("set {}, or set profile to a known name", field.setting)});
      }
    }
    if (!choice.violations.empty()) return choice;
    choice.profile = std::move(profile);
  } else {
    try {
      choice.profile = find_profile(name.value_or(std::string(default_profile_name)));
    } catch (const lockstep::Error& error) {
      const auto& diagnostic = error.diagnostic();
      const auto hint =
          diagnostic.did_you_mean.empty() ? "" : fmt::format("; did you mean '{}'?", diagnostic.did_you_mean);
      choice.violations.push_back({"profile", diagnostic.message + hint, diagnostic.help});
      return choice;
    }
    for (const auto& field : stored_fields) {
      const auto& given = fields.*field.given;
      const auto stored = (*choice.profile).*field.stored;
      if (!given || *given == stored) continue;
      choice.violations.push_back(
          {field.setting,
           fmt::format("{} is {}, but profile '{}' has {}", field.setting, *given, choice.profile->name, stored),
           fmt::format("leave {} out, or set profile to '{}'", field.setting, custom_profile_name)});
    }
  }
  if (choice.profile->find_violation()) return choice;  // derived sizes mean nothing then
  require_derived(choice, "image_height", fields.image_height, choice.profile->image_height(), "patch_grid_height");
  require_derived(choice, "image_width", fields.image_width, choice.profile->image_width(), "patch_grid_width");
  return choice;
}

}  // namespace gemma4
