#pragma once

#include <cstdint>

#include "reference/reference.hpp"
#include "runtime/runtime.hpp"

namespace gemma4 {

/// What a runtime's prefill takes, made by the reference alone.
struct PromptFeed {
  StaticBatch batch;              ///< the prompt padded anew from its raw ids
  lockstep::Tensor fused_embeds;  ///< T [1, S, H]
  AttentionMasks masks;           ///< T [1, 1, S, S], 0 or the runtime's own fill
  RopeTables rope;                ///< T [1, S, D]
};
/// Slots that the reference does not know (a recording has those of its prompt only) are padding: zero, masked.
[[nodiscard]] PromptFeed prompt_feed(const Reference& reference, const Runtime& runtime, const StaticBatch& batch);

/// The reference's growing cache in the fixed slots of a runtime, [1, kv heads, slots, D]: position p in slot p. A
/// sliding layer keeps its last positions only; the slots before them stay zero, as its window hides them.
[[nodiscard]] KvCache static_cache_of(const KvCache& dynamic, std::int64_t slots);

}  // namespace gemma4
