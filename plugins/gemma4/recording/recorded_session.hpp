#pragma once

#include <functional>
#include <memory>

#include "recording/recording.hpp"
#include "reference/reference.hpp"

namespace gemma4 {

/// Throws lockstep::Error unless these are the recorded inputs: ids, mask, pixel values and positions.
void require_recorded_inputs(const Recording& recording, const ModelInputs& inputs);

/// The recorded passes, in the order in which they were recorded: the prompt, then the recorded tokens.
///
/// - prefill of the last position is "prefill_last.logits_capped", of all positions "logits_capped" as it was recorded:
///   with --all-logits all of them, else the last one only. What it shows is of the pass over all positions: of layers
///   that share keys and values, and behind them, the last logits_to_keep rows.
/// - decode takes the tokens that were fed when the recording was made ("decode.tokens"), and no others.
/// - snapshot is put together from "cache.…" and "cache_final.…", position by position (recorded_cache.hpp).
[[nodiscard]] std::unique_ptr<ReferenceSession> make_recorded_session(std::shared_ptr<const Recording> recording,
                                                                      std::shared_ptr<const Checkpoint> checkpoint);

/// The recorded prompt as Reference::prompt gives it, without `made_by`.
[[nodiscard]] ReferencePrompt recorded_prompt(std::shared_ptr<const Recording> recording,
                                              std::shared_ptr<const Checkpoint> checkpoint, const ModelInputs& inputs,
                                              const lockstep::TensorVisitor& taps);
/// A session behind the recorded prompt. Throws lockstep::Error unless `prompt` has its inputs and logits.
[[nodiscard]] std::unique_ptr<ReferenceSession> resume_recorded_session(std::shared_ptr<const Recording> recording,
                                                                        std::shared_ptr<const Checkpoint> checkpoint,
                                                                        const ReferencePrompt& prompt);

/// "gen.ids" and "gen.logits" of the recorded inputs; up to as many tokens as were recorded.
[[nodiscard]] Generation recorded_generation(const Recording& recording, const Checkpoint& checkpoint,
                                             const ModelInputs& inputs, std::int64_t max_new_tokens,
                                             const std::function<void(std::int64_t, const lockstep::Tensor&)>& each);

/// "mask.sliding" and "mask.full" of the recorded prompt, or of the decode step that sees `past_length` positions.
[[nodiscard]] AttentionMasks recorded_masks(const Recording& recording, const lockstep::Tensor& attention_mask,
                                            std::int64_t past_length);

}  // namespace gemma4
