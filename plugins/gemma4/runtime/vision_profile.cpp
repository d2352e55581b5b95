#include "runtime/vision_profile.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

namespace gemma4 {
namespace {

// Larger sizes than any picture has; products of three of them stay within int64.
constexpr std::int64_t largest_size = 1'000'000;

ProfileViolation unequal_to_checkpoint(std::string_view setting, std::int64_t profile, std::string_view key,
                                       std::int64_t checkpoint) {
  return {std::string(setting),
          fmt::format("{} is {}, but the checkpoint's vision_config.{} is {}", setting, profile, key, checkpoint),
          fmt::format("set {} to {}, or choose a profile made for this checkpoint", setting, checkpoint)};
}

void require_equal(std::string_view profile_name, std::string_view setting, std::string_view where, auto expected,
                   const auto& actual) {
  if (!actual || *actual == expected) return;
  throw lockstep::Error{
      fmt::format("profile '{}' expects {} = {}, but {} is {}", profile_name, setting, expected, where, *actual),
      fmt::format("set {} of the profile to {}, or use a checkpoint whose processor has {}", setting, *actual,
                  expected)};
}

}  // namespace

std::optional<ProfileViolation> VisionProfile::find_violation(std::optional<std::int64_t> max_seq,
                                                              const std::optional<VisionGeometry>& checkpoint) const {
  using Violation = ProfileViolation;
  if (name.empty()) return Violation{"profile", "the profile has no name", "give the profile a name"};
  if (batch_size != 1) {
    return Violation{"batch_size", fmt::format("batch_size is {}, a static profile has exactly 1 picture", batch_size),
                     "set batch_size to 1"};
  }
  const std::array<std::pair<const char*, std::int64_t>, 6> sizes{{{"num_visual_tokens", num_visual_tokens},
                                                                   {"max_soft_tokens", max_soft_tokens},
                                                                   {"patch_grid_height", patch_grid_height},
                                                                   {"patch_grid_width", patch_grid_width},
                                                                   {"patch_size", patch_size},
                                                                   {"pooling_kernel_size", pooling_kernel_size}}};
  for (const auto& [setting, value] : sizes) {
    if (value <= 0 || value > largest_size) {
      return Violation{setting, fmt::format("{} is {}, expected 1 to {}", setting, value, largest_size),
                       fmt::format("set {} to the size that the picture has", setting)};
    }
  }
  if (visual_start_idx < 0 || visual_start_idx > largest_size) {
    return Violation{"visual_start_idx",
                     fmt::format("visual_start_idx is {}, expected 0 to {}", visual_start_idx, largest_size),
                     "set visual_start_idx to the slot of the first visual token"};
  }
  for (const auto& [setting, value] : {sizes[2], sizes[3]}) {
    if (value % pooling_kernel_size != 0) {
      return Violation{
          setting,
          fmt::format("{} is {}, not a multiple of pooling_kernel_size {}", setting, value, pooling_kernel_size),
          fmt::format("set {} to {}", setting, (value / pooling_kernel_size + 1) * pooling_kernel_size)};
    }
  }
  if (num_visual_tokens > max_soft_tokens) {
    return Violation{
        "num_visual_tokens",
        fmt::format("num_visual_tokens is {}, more than max_soft_tokens {}", num_visual_tokens, max_soft_tokens),
        "raise max_soft_tokens, or lower num_visual_tokens together with the patch grid"};
  }
  if (soft_grid_height() * soft_grid_width() != num_visual_tokens) {
    return Violation{"num_visual_tokens",
                     fmt::format("num_visual_tokens is {}, but a {} x {} patch grid pooled by {} gives {} x {} = {}",
                                 num_visual_tokens, patch_grid_height, patch_grid_width, pooling_kernel_size,
                                 soft_grid_height(), soft_grid_width(), soft_grid_height() * soft_grid_width()),
                     fmt::format("set num_visual_tokens to {}, or correct patch_grid_height and patch_grid_width",
                                 soft_grid_height() * soft_grid_width())};
  }
  if (max_seq && visual_end_idx() > *max_seq) {
    return Violation{"max_seq",
                     fmt::format("max_seq is {}, but the visual tokens of profile '{}' end at slot {}", *max_seq, name,
                                 visual_end_idx()),
                     fmt::format("raise max_seq to at least {}, or choose another profile", visual_end_idx())};
  }
  if (checkpoint) {
    if (checkpoint->patch_size != patch_size) {
      return unequal_to_checkpoint("patch_size", patch_size, "patch_size", checkpoint->patch_size);
    }
    if (checkpoint->pooling_kernel_size != pooling_kernel_size) {
      return unequal_to_checkpoint("pooling_kernel_size", pooling_kernel_size, "pooling_kernel_size",
                                   checkpoint->pooling_kernel_size);
    }
    if (checkpoint->default_output_length && *checkpoint->default_output_length != max_soft_tokens) {
      return unequal_to_checkpoint("max_soft_tokens", max_soft_tokens, "default_output_length",
                                   *checkpoint->default_output_length);
    }
  }
  return std::nullopt;
}

void VisionProfile::validate(std::optional<std::int64_t> max_seq,
                             const std::optional<VisionGeometry>& checkpoint) const {
  if (auto violation = find_violation(max_seq, checkpoint)) {
    throw lockstep::Error{fmt::format("profile '{}': {}", name, violation->message), violation->help};
  }
}

void VisionProfile::validate_processor(const ProcessorSettings& processor) const {
  require_equal(name, "tokenizer_add_bos_token", "the tokenizer's add_bos_token", tokenizer_add_bos_token,
                processor.tokenizer_add_bos_token);
  if (!processor.image_processor) return;
  const auto& images = *processor.image_processor;
  require_equal(name, "patch_size", "the image processor's patch_size", patch_size, images.patch_size);
  require_equal(name, "pooling_kernel_size", "the image processor's pooling_kernel_size", pooling_kernel_size,
                images.pooling_kernel_size);
  require_equal(name, "max_soft_tokens", "the image processor's max_soft_tokens", max_soft_tokens,
                images.max_soft_tokens);
  require_equal(name, "max_soft_tokens", "the processor's image_seq_length", max_soft_tokens,
                processor.image_seq_length);
}

}  // namespace gemma4
