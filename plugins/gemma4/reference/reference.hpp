#pragma once

#include <lockstep/export.hpp>
#include <lockstep/port.hpp>
#include <lockstep/tensor.hpp>
#include "checkpoint/checkpoint.hpp"

namespace gemma4 {

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
};

}  // namespace gemma4

LOCKSTEP_PORT_TYPE(gemma4::Reference, "gemma4.reference/1");
