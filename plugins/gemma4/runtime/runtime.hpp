#pragma once

#include <optional>

#include <lockstep/export.hpp>
#include <lockstep/port.hpp>
#include <lockstep/tensor.hpp>

#include "runtime/layout.hpp"
#include "runtime/static_batch.hpp"
#include "runtime/vision_profile.hpp"

namespace gemma4 {

/// What is verified: a Gemma 4 runtime whose tensors have fixed shapes, stage by stage.
///
/// Tensors are core tensors: an implementation that drives a device needs no LibTorch. Results own their data and stay
/// valid after the runtime is gone; arguments are only read, during the call. Immutable: calls do not influence each
/// other and may come from several threads. S max_seq, H hidden_size. What a call cannot work with (wrong dtype or
/// shape, an id outside the vocabulary, a prompt that does not fit) is a lockstep::Error that names it.
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
  /// stripping, quantized if the runtime is. None: the runtime has no such view.
  [[nodiscard]] virtual std::optional<lockstep::Tensor> eager_image_features(
      const lockstep::Tensor& pixel_values, const lockstep::Tensor& image_position_ids) const = 0;

  /// The prompt's embeddings with the picture in its slots of layout(): text_embeds dtype() [1, S, H] and visual_embeds
  /// dtype() [V, H] (or [1, V, H]) -> dtype() [1, S, H].
  [[nodiscard]] virtual lockstep::Tensor fuse(const lockstep::Tensor& text_embeds,
                                              const lockstep::Tensor& visual_embeds) const = 0;
};

}  // namespace gemma4

LOCKSTEP_PORT_TYPE(gemma4::Runtime, "gemma4.runtime/1");
