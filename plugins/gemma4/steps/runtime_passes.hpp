#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <lockstep/tensor.hpp>

#include "checkpoint/text_tensors.hpp"
#include "runtime/runtime.hpp"

// What a step needs to run prompts of its own through a runtime, all stages of it, without a reference.

namespace gemma4 {

/// A prompt with what the runtime makes of it before prefill.
struct PreparedPrompt {
  StaticBatch batch;
  lockstep::Tensor fused_embeds;  ///< T [1, S, H]
  AttentionMasks masks;
  RopeTables rope;
};

/// Embeds the batch's ids, and fuses its picture if it has one.
[[nodiscard]] PreparedPrompt prepare(const Runtime& runtime, const StaticBatch& batch);
/// The same prompt with `ids` in the slots of padding, again and again, and their embeddings there.
[[nodiscard]] PreparedPrompt with_other_padding(const Runtime& runtime, const StaticBatch& batch,
                                                std::span<const std::int64_t> ids);
/// The same prompt with `value` and `-value` in turn as the embeddings of padding.
[[nodiscard]] PreparedPrompt with_padding_embeds(const PreparedPrompt& prompt, double value);
/// Ids `first` to `first + count` of a text that repeats the prompt without its picture. Throws lockstep::Error if
/// nothing is left of it.
[[nodiscard]] std::vector<std::int64_t> repeated_text(const StaticBatch& batch,
                                                      const std::optional<std::int64_t>& image_id, std::int64_t first,
                                                      std::int64_t count);
/// A text of these ids, none of them padding.
[[nodiscard]] RawInputs raw_text(std::span<const std::int64_t> ids);
/// The prompt of `batch` in the slots of another runtime.
[[nodiscard]] PreparedPrompt prepare_again(const Runtime& other, const StaticBatch& batch);

/// A session and the logits that it gave last, T [1, V].
struct Pass {
  std::unique_ptr<RuntimeSession> session;
  lockstep::Tensor logits;
};
[[nodiscard]] Pass prefilled(const Runtime& runtime, const PreparedPrompt& prompt);
/// Feeds `ids` one by one.
void decode_all(Pass& pass, std::span<const std::int64_t> ids);

/// The snapshot with `value` in every slot from its length on.
[[nodiscard]] KvCache with_unused_slots(const KvCache& cache, double value);

}  // namespace gemma4
