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
};

}  // namespace gemma4

LOCKSTEP_PORT_TYPE(gemma4::Reference, "gemma4.reference/1");
