#pragma once

#include <ATen/core/Tensor.h>

#include <lockstep/tensor.hpp>

#include "checkpoint/checkpoint.hpp"

namespace gemma4 {

/// transformers' Gemma4TextScaledWordEmbedding over `embed_tokens`: embedding(ids) * embed_scale.to(weight.dtype).
class ScaledWordEmbedding {
 public:
  ScaledWordEmbedding(const Checkpoint& checkpoint, lockstep::DType dtype);

  /// int64 [B, S] -> [B, S, H]
  [[nodiscard]] at::Tensor forward(const lockstep::Tensor& input_ids) const;
  /// The same without the scale.
  [[nodiscard]] at::Tensor rows(const lockstep::Tensor& input_ids) const;
  /// 0-d
  [[nodiscard]] const at::Tensor& embed_scale() const noexcept { return embed_scale_; }

 private:
  at::Tensor weight_;  // [vocab_size, H], the checkpoint's map in its own dtype
  at::Tensor embed_scale_;
  at::ScalarType dtype_;
};

}  // namespace gemma4
