#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include <lockstep/tensor.hpp>
#include "checkpoint/checkpoint.hpp"
#include "recording/recording.hpp"

namespace gemma4 {

/// What the processor makes of texts; B rows, S the longest one's tokens, shorter rows padded on the left.
struct PromptInputs {
  lockstep::Tensor ids;                ///< int64 [B, S]
  lockstep::Tensor attention_mask;     ///< int64 [B, S]: 0 in padding
  lockstep::Tensor mm_token_type_ids;  ///< int64 [B, S]: 1 at placeholders of pictures
};

/// The recording's messages (or raw texts) from the chat format up to ids: rendered, placeholders expanded to
/// `soft_tokens` of each picture in order, encoded, padded. A checkpoint whose chat template is not a known one starts
/// from the recorded texts.
/// Throws lockstep::Error when placeholders and pictures do not agree.
[[nodiscard]] PromptInputs process_recorded_prompt(const Recording& recording, const Checkpoint& checkpoint,
                                                   std::span<const std::int64_t> soft_tokens);

}  // namespace gemma4
