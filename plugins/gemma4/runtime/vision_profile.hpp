#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <lockstep/export.hpp>

#include "runtime/layout.hpp"

namespace gemma4 {

/// What a checkpoint's vision config says about the picture's geometry.
struct VisionGeometry {
  std::int64_t patch_size = 0;
  std::int64_t pooling_kernel_size = 0;
  std::optional<std::int64_t> default_output_length = std::nullopt;  ///< soft tokens; older configs have none
};

/// What a checkpoint's tokenizer and processor files say; what is absent is not compared.
struct ProcessorSettings {
  struct ImageProcessor {
    std::optional<std::int64_t> patch_size = std::nullopt;
    std::optional<std::int64_t> pooling_kernel_size = std::nullopt;
    std::optional<std::int64_t> max_soft_tokens = std::nullopt;
  };
  std::optional<bool> tokenizer_add_bos_token = std::nullopt;
  std::optional<ImageProcessor> image_processor = std::nullopt;  ///< none: a text-only processor
  std::optional<std::int64_t> image_seq_length = std::nullopt;
};

/// A rule of a profile that does not hold.
struct ProfileViolation {
  std::string setting;  ///< the field to change: "patch_grid_height", "max_seq", …
  std::string message;
  std::string help;
};

/// Everything that is fixed once the size of the picture is fixed: its patch grid, how many visual tokens it gives and
/// the slot at which they start. Sizes count patches; a name says width x height, then the number of tokens.
///
/// ```cpp
/// const VisionProfile& profile = find_profile("e2b_66x36_264");   // known_profiles.hpp
/// profile.validate(/*max_seq=*/2048);
/// profile.image_width();    // 1056 pixels
/// ```
struct LOCKSTEP_API VisionProfile {
  std::string name;
  std::int64_t visual_start_idx = 0;
  std::int64_t num_visual_tokens = 0;
  std::int64_t max_soft_tokens = 0;  ///< capacity of the image processor; fewer may be used
  std::int64_t patch_grid_height = 0;
  std::int64_t patch_grid_width = 0;
  std::int64_t patch_size = 16;          ///< pixels
  std::int64_t pooling_kernel_size = 3;  ///< patches per soft token along each axis
  std::int64_t batch_size = 1;
  bool tokenizer_add_bos_token = false;

  [[nodiscard]] std::int64_t num_valid_patches() const noexcept { return patch_grid_height * patch_grid_width; }
  [[nodiscard]] std::int64_t num_patches() const noexcept {
    return max_soft_tokens * pooling_kernel_size * pooling_kernel_size;
  }
  [[nodiscard]] std::int64_t num_padding_patches() const noexcept { return num_patches() - num_valid_patches(); }
  [[nodiscard]] std::int64_t soft_grid_height() const noexcept { return patch_grid_height / pooling_kernel_size; }
  [[nodiscard]] std::int64_t soft_grid_width() const noexcept { return patch_grid_width / pooling_kernel_size; }
  [[nodiscard]] std::int64_t image_height() const noexcept { return patch_grid_height * patch_size; }
  [[nodiscard]] std::int64_t image_width() const noexcept { return patch_grid_width * patch_size; }
  [[nodiscard]] std::int64_t patch_vector_size() const noexcept { return 3 * patch_size * patch_size; }
  [[nodiscard]] std::int64_t visual_end_idx() const noexcept { return visual_start_idx + num_visual_tokens; }
  /// Its slots in a prompt of max_seq.
  [[nodiscard]] StaticLayout layout(std::int64_t max_seq) const noexcept {
    return {.max_seq = max_seq,
            .visual_start_idx = visual_start_idx,
            .num_visual_tokens = num_visual_tokens,
            .batch_size = batch_size};
  }

  /// The first rule that does not hold, if any. In this order: a name; batch_size 1; positive sizes; start not
  /// negative; both grid axes divisible by the pooling kernel; no more tokens than the capacity; the soft grid gives
  /// exactly num_visual_tokens; the picture ends within max_seq (if given); patch size, kernel and capacity are the
  /// checkpoint's (if given). That the patches fit into num_patches() follows: tokens times kernel^2 on both sides.
  [[nodiscard]] std::optional<ProfileViolation> find_violation(
      std::optional<std::int64_t> max_seq = std::nullopt,
      const std::optional<VisionGeometry>& checkpoint = std::nullopt) const;
  /// Throws lockstep::Error with the first violation.
  void validate(std::optional<std::int64_t> max_seq = std::nullopt,
                const std::optional<VisionGeometry>& checkpoint = std::nullopt) const;
  /// Throws lockstep::Error naming the expected and the actual value unless the processor produces what the profile
  /// fixes. Without an image processor only add_bos_token is compared.
  void validate_processor(const ProcessorSettings& processor) const;

  friend bool operator==(const VisionProfile&, const VisionProfile&) = default;
};

}  // namespace gemma4
