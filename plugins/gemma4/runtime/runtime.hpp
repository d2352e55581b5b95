#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <lockstep/export.hpp>
#include <lockstep/port.hpp>
#include <lockstep/tensor.hpp>

#include "checkpoint/text_tensors.hpp"
#include "runtime/layout.hpp"
#include "runtime/static_batch.hpp"
#include "runtime/vision_profile.hpp"

namespace gemma4 {

/// One prompt and the tokens after it, with the mutable key-value cache of fixed size that they share. Made by
/// Runtime::start or Runtime::resume; stays valid after the runtime is gone. Used by one thread at a time; several
/// sessions of one runtime do not influence each other. Results own their data. A call that throws lockstep::Error
/// leaves the session as it was.
///
/// S max_seq, H hidden_size, V vocab_size, D head_dim of a layer's type, T dtype() of the runtime. The cache has S - 1
/// slots; a token that is decoded sees them and itself, S keys in every step.
class LOCKSTEP_API RuntimeSession {
 public:
  virtual ~RuntimeSession() = default;

  /// The prompt, once, before anything else; at most S - 1 tokens. fused_embeds T [1, S, H]; masks T [1, 1, S, S] and
  /// rope T [1, S, D], of the layer types that the model has: what the stages before computed, or another's. Rows
  /// behind batch.valid_length are padding: finite, else without meaning; their keys and values do not enter the cache.
  /// -> T [1, V], logits after the softcap of row valid_length - 1.
  ///
  /// `taps`, if given, sees inner tensors under the names that the reference gives them: "ple.token" and
  /// "ple.combined" T [1, S, layers, width], "L<i>.k" and "L<i>.v" T [1, kv heads, S, D] (after norm and rope) of
  /// layers with keys and values of their own, "L<i>.mask" T [1, 1, S, S] (what the layer adds to its scores),
  /// "L<i>.gate" and "L<i>.act" T [1, S, width] (before and after the MLP's GELU), "L<i>.out" T [1, S, H],
  /// "logits_raw" T [1, V]. A runtime that cannot look inside shows nothing.
  [[nodiscard]] virtual lockstep::Tensor prefill(const StaticBatch& batch, const lockstep::Tensor& fused_embeds,
                                                 const AttentionMasks& masks, const RopeTables& rope,
                                                 const lockstep::TensorVisitor& taps = {}) = 0;

  /// The next token, int64 [1, 1], as it was generated; placeholders of pictures are read as the pad id -> T [1, V].
  /// Throws before prefill, and when length() is S - 1: the cache is full. Taps as in prefill, with 1 for S rows, and
  /// "mask.sliding", "mask.full" T [1, 1, 1, S] and "rope.<type>.cos", "rope.<type>.sin" T [1, 1, D].
  [[nodiscard]] virtual lockstep::Tensor decode(const lockstep::Tensor& input_ids,
                                                const lockstep::TensorVisitor& taps = {}) = 0;

  /// Valid slots of the cache: tokens of the prompt and tokens decoded. 0 before prefill.
  [[nodiscard]] virtual std::int64_t length() const = 0;
  /// The cache, copied: [1, kv heads, S - 1, D] for each layer with keys and values of its own. Slots from length() on
  /// have no meaning.
  [[nodiscard]] virtual KvCache snapshot() const = 0;

  /// Greedy: from `logits` T [1, V] take the largest (the first of equals), decode it, and so on. Ends at a token of
  /// the checkpoint's eos set, after max_new_tokens, or when the cache is full; the last token is not decoded. `each`,
  /// if given, sees (step, logits [1, V]) from which token number `step` is taken. Throws before prefill.
  [[nodiscard]] virtual Generation generate(
      const lockstep::Tensor& logits, std::int64_t max_new_tokens,
      const std::function<void(std::int64_t step, const lockstep::Tensor& logits)>& each = {}) = 0;
};

/// What is verified: a Gemma 4 runtime whose tensors have fixed shapes, stage by stage.
///
/// Tensors are core tensors: an implementation that drives a device needs no LibTorch. Results own their data and stay
/// valid after the runtime is gone; arguments are only read, during the call. Immutable: calls do not influence each
/// other and may come from several threads. S max_seq, H hidden_size. What a call cannot work with (wrong dtype or
/// shape, an id outside the vocabulary, a prompt that does not fit) is a lockstep::Error that names it. A runtime that
/// has nothing for a stage throws NotServed (not_served.hpp) from that stage's call.
class LOCKSTEP_API Runtime {
 public:
  virtual ~Runtime() = default;

  [[nodiscard]] virtual const StaticLayout& layout() const = 0;
  [[nodiscard]] virtual const VisionProfile& profile() const = 0;
  /// Of activations: bfloat16 or float32.
  [[nodiscard]] virtual lockstep::DType dtype() const = 0;

  /// The prompt in the slots of layout(): what the device gets, before any arithmetic.
  [[nodiscard]] virtual StaticBatch build_static_inputs(const RawInputs& raw) const = 0;

  /// int64 [1, n] -> dtype() [1, n, H], contiguous: rows of the embedding table times sqrt(H). The ids are those of the
  /// language model (image slots hold the pad id); n is S for a prompt and 1 for a token.
  [[nodiscard]] virtual lockstep::Tensor token_embedding(const lockstep::Tensor& input_ids) const = 0;

  /// The picture, by the fixed-shape graph: pixel_values [1, num_patches, 3 * patch_size^2] of float32 (or dtype()),
  /// values in [0, 1], and image_position_ids int64 [1, num_patches, 2], which must be exactly those of profile() ->
  /// dtype() [V, H], V num_visual_tokens.
  ///
  /// `taps`, if given, sees inner tensors under the names that the reference gives them: "vis.L0.out", "vis.L1.out", …
  /// of [1, num_patches, width of the tower] after each layer, and "vis.scaled" [V, width of the tower] after the
  /// pooler. A runtime that cannot look inside shows nothing.
  [[nodiscard]] virtual lockstep::Tensor vision_prefill(const lockstep::Tensor& pixel_values,
                                                        const lockstep::Tensor& image_position_ids,
                                                        const lockstep::TensorVisitor& taps = {}) const = 0;
  /// The same model without fixed shapes, as vision_prefill is compared with it: with dynamic pooling and boolean
  /// stripping, quantized if the runtime is. None: the runtime has no such view. `taps` sees "vis.L<i>.out" of
  /// [1, num_patches, width of the tower].
  [[nodiscard]] virtual std::optional<lockstep::Tensor> eager_image_features(
      const lockstep::Tensor& pixel_values, const lockstep::Tensor& image_position_ids,
      const lockstep::TensorVisitor& taps = {}) const = 0;

  /// The prompt's embeddings with the picture in its slots of layout(): text_embeds dtype() [1, S, H] and visual_embeds
  /// dtype() [V, H] (or [1, V, H]) -> dtype() [1, S, H].
  [[nodiscard]] virtual lockstep::Tensor fuse(const lockstep::Tensor& text_embeds,
                                              const lockstep::Tensor& visual_embeds) const = 0;

  /// Finite and negative: what masks hold where a position may not attend.
  [[nodiscard]] virtual double mask_fill() const = 0;
  /// bool [1, S], true for the first tokens -> dtype() [1, 1, S, S] of each layer type: 0 where query and key are
  /// causal, within the window, and the key is valid; mask_fill() elsewhere. Rows of padding follow the same rule.
  [[nodiscard]] virtual AttentionMasks attention_masks(const lockstep::Tensor& attention_mask) const = 0;
  /// int64 [1, n], values 0 to S - 1 -> dtype() [1, n, D] of each layer type, channels j and j + D / 2 alike.
  [[nodiscard]] virtual RopeTables rope(const lockstep::Tensor& position_ids) const = 0;

  /// A session with an empty cache.
  [[nodiscard]] virtual std::unique_ptr<RuntimeSession> start() const = 0;
  /// A session that decodes from where `snapshot` was taken. Only its first `length` slots are read. Throws unless it
  /// has the layers, shapes and dtype of RuntimeSession::snapshot().
  [[nodiscard]] virtual std::unique_ptr<RuntimeSession> resume(const KvCache& snapshot) const = 0;

  /// The same runtime with another number of slots. Null: this one cannot be made again, as its shapes are compiled in.
  [[nodiscard]] virtual std::shared_ptr<const Runtime> with_max_seq([[maybe_unused]] std::int64_t max_seq) const {
    return nullptr;
  }
};

}  // namespace gemma4

LOCKSTEP_PORT_TYPE(gemma4::Runtime, "gemma4.runtime/1");
