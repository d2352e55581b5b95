#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <lockstep/export.hpp>
#include <lockstep/port.hpp>
#include <lockstep/tensor.hpp>
#include "checkpoint/checkpoint.hpp"
#include "checkpoint/text_tensors.hpp"
#include "reference/reference_prompt.hpp"

namespace gemma4 {

/// One sequence of passes through the model with a cache that grows, as transformers runs it. Made by Reference::start
/// or Reference::resume. Owned by one thread; may outlive the Reference that made it.
///
/// `taps` sees the inner tensors while they are computed, under their recorded names: of a prefill "vis.L0.q",
/// "llm.embed", "ple.combined", "rope.sliding.cos", "mask.full", "L3.q_rope", "L3.kv_source.k", "L3.out", "final_norm",
/// "logits_raw", "logits_capped"; of a decode step the same without "vis.", and without a prefix of its own.
///
/// Positions count from 0 over all columns; where attention_mask has a 0, over each row's valid tokens, 0 in padding.
class LOCKSTEP_API ReferenceSession {
 public:
  virtual ~ReferenceSession() = default;

  /// The prompt -> model dtype [B, k, vocab_size]: capped logits of the last k = logits_to_keep positions, of all S if
  /// it is 0. With k > 0 the layers that share keys and values run on those positions only.
  /// Once, first. Throws lockstep::Error for shapes, ids or pictures that do not fit together.
  virtual lockstep::Tensor prefill(const ModelInputs& inputs, std::int64_t logits_to_keep,
                                   const lockstep::TensorVisitor& taps = {}) = 0;
  /// The next token of each row, int64 [B, 1] -> model dtype [B, 1, vocab_size]. Ids of placeholders count as the pad
  /// id, as they do in the prompt. Throws lockstep::Error before the prefill or for ids outside the table.
  virtual lockstep::Tensor decode(const lockstep::Tensor& input_ids, const lockstep::TensorVisitor& taps = {}) = 0;
  /// What the cache holds now: of each layer with keys and values of its own all positions, of a sliding one the last
  /// sliding_window - 1.
  [[nodiscard]] virtual KvCache snapshot() const = 0;
};

/// What is right: the semantics of Hugging Face transformers' Gemma4ForConditionalGeneration, stage by stage.
///
/// Tensors are core tensors, so that an implementation (the native one, a recording) and its readers need no LibTorch
/// of the same kind. B batch, S sequence, H hidden_size; "model dtype" is dtype(). Immutable; may be shared by steps.
class LOCKSTEP_API Reference {
 public:
  virtual ~Reference() = default;

  /// The model dtype: bfloat16 or float32.
  [[nodiscard]] virtual lockstep::DType dtype() const = 0;
  [[nodiscard]] virtual const Checkpoint& checkpoint() const = 0;
  /// How it comes to its answers and from what, as text: two references of the same identity give the same answers.
  [[nodiscard]] virtual std::string identity() const = 0;

  /// int64 [B, S] -> model dtype [B, S, H]: rows of the embedding table times embed_scale(), one rounding. Ids as they
  /// go into the language model: placeholders of pictures already replaced by the pad id.
  /// Throws lockstep::Error for an id outside the table.
  [[nodiscard]] virtual lockstep::Tensor token_embedding(const lockstep::Tensor& input_ids) const = 0;
  /// int64 [B, S] -> model dtype [B, S, H]: the rows themselves.
  [[nodiscard]] virtual lockstep::Tensor unscaled_embedding(const lockstep::Tensor& input_ids) const = 0;
  /// sqrt(H) rounded to the model dtype, 0-d.
  [[nodiscard]] virtual lockstep::Tensor embed_scale() const = 0;

  /// The vision tower and its projection. pixel_values [N, P, 3 * patch_size^2] of float32 or the model dtype, values
  /// in [0, 1]; image_position_ids int64 [N, P, 2] as (x, y), (-1, -1) in padding slots -> model dtype [V, H]: the V
  /// valid soft tokens of all pictures, one after the other. `taps` sees the inner tensors under their recorded names,
  /// "vis.patch_proj", "vis.L0.q", …, while they are computed.
  /// Throws lockstep::Error for shapes that do not fit, or for a checkpoint without vision.
  [[nodiscard]] virtual lockstep::Tensor image_features(const lockstep::Tensor& pixel_values,
                                                        const lockstep::Tensor& image_position_ids,
                                                        const lockstep::TensorVisitor& taps = {}) const = 0;
  /// The embeddings with the rows at true places of image_mask, bool [B, S], replaced by image_features [V, H] in
  /// order. text_embeds [B, S, H]. Throws lockstep::Error unless V is the number of true places.
  [[nodiscard]] virtual lockstep::Tensor fuse(const lockstep::Tensor& text_embeds, const lockstep::Tensor& image_mask,
                                              const lockstep::Tensor& image_features) const = 0;
  /// What the text layers get beside the hidden state: llm_input_ids int64 [B, S], placeholders replaced by the pad id,
  /// and fused_embeds [B, S, H] -> model dtype [B, S, num_hidden_layers, hidden_size_per_layer_input].
  /// Taps: "ple.token", "ple.ctx_proj", "ple.ctx_scaled", "ple.ctx_norm", "ple.combined".
  [[nodiscard]] virtual lockstep::Tensor per_layer_inputs(const lockstep::Tensor& llm_input_ids,
                                                          const lockstep::Tensor& fused_embeds,
                                                          const lockstep::TensorVisitor& taps = {}) const = 0;

  /// Positions from the first on that masks and rotary tables can be asked for at once; none: any number of them. A
  /// recording knows those of its prompt.
  [[nodiscard]] virtual std::optional<std::int64_t> known_positions() const { return std::nullopt; }
  /// The causal masks of a pass over the last K - past_length of K positions. attention_mask bool or int64 [B, K], 0 in
  /// padding -> model dtype [B, 1, K - past_length, K]: 0 or the lowest finite value. The sliding one has columns only
  /// for the positions that a sliding layer sees: the pass's own and the sliding_window - 1 before them.
  [[nodiscard]] virtual AttentionMasks attention_masks(const lockstep::Tensor& attention_mask,
                                                       std::int64_t past_length = 0) const = 0;
  /// The rotary tables of both layer types. position_ids int64 [b, S] -> model dtype [b, S, head_dim].
  [[nodiscard]] virtual RopeTables rope(const lockstep::Tensor& position_ids) const = 0;
  [[nodiscard]] virtual std::unique_ptr<ReferenceSession> start() const = 0;
  /// The prompt, once for all that comes after it. `taps` sees the pass over all positions, as
  /// ReferenceSession::prefill shows it with logits_to_keep = 0, without the logits of all positions, which it does not
  /// make. Throws as that does.
  [[nodiscard]] virtual ReferencePrompt prompt(const ModelInputs& inputs,
                                               const lockstep::TensorVisitor& taps = {}) const = 0;
  /// A session that goes on behind the prompt, bit for bit as the one that ran it would. Throws lockstep::Error for a
  /// prompt that this reference cannot have made.
  [[nodiscard]] virtual std::unique_ptr<ReferenceSession> resume(const ReferencePrompt& prompt) const = 0;
  /// Greedy generation of one row, as transformers' generate() with do_sample=False: until one of the checkpoint's eos
  /// ids or max_new_tokens. `each` sees the logits, float32 [1, vocab_size], that chose token `step`.
  [[nodiscard]] virtual Generation generate(
      const ReferencePrompt& prompt, std::int64_t max_new_tokens,
      const std::function<void(std::int64_t step, const lockstep::Tensor& logits)>& each = {}) const = 0;
};

}  // namespace gemma4

LOCKSTEP_PORT_TYPE(gemma4::Reference, "gemma4.reference/1");
