#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <lockstep/export.hpp>
#include <lockstep/tensor.hpp>

#include "runtime/layout.hpp"
#include "runtime/static_batch.hpp"
#include "runtime/vision_profile.hpp"

// From a processor's output to the slots of a static layout.

namespace gemma4 {

/// Which slots hold a token. `input_ids` is [B, n] int64; the result is [B, n] bool.
/// With a mask (bool or an integer type): its values as bool; its shape must be that of the ids. Without: ids that are
/// not `pad_token_id`; without that too, all of them. Throws lockstep::Error.
[[nodiscard]] LOCKSTEP_API lockstep::Tensor normalize_valid_mask(const lockstep::Tensor& input_ids,
                                                                 const std::optional<lockstep::Tensor>& attention_mask,
                                                                 std::optional<std::int64_t> pad_token_id);

/// Throws lockstep::Error unless `padding_side` is "right" and no row of `valid_mask` ([B, n] bool) has a valid slot
/// after an invalid one.
LOCKSTEP_API void validate_padding_layout(const lockstep::Tensor& valid_mask, std::string_view padding_side = "right");

/// The ids that static inputs depend on, from the checkpoint's config.
struct PlaceholderIds {
  std::int64_t pad = 0;
  std::optional<std::int64_t> image = std::nullopt;  ///< none: the checkpoint takes no picture
};

/// Puts the prompt into the slots of `layout`.
///
/// The prompt may have up to max_seq tokens: that is what the slots hold. (Generation needs a free slot; prefill checks
/// that.) A prompt with image ids or pixels must fit `profile` in every respect (validate_processor_outputs), judged
/// before its image ids are replaced. Throws lockstep::Error that names the tensor, what was found and what was
/// expected.
[[nodiscard]] LOCKSTEP_API StaticBatch build_static_batch(const RawInputs& raw, const StaticLayout& layout,
                                                          const VisionProfile& profile, const PlaceholderIds& ids);

}  // namespace gemma4
