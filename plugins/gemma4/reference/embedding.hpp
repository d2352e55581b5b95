#pragma once

#include <ATen/core/Tensor.h>

#include <lockstep/tensor.hpp>
#include <string>

#include "checkpoint/checkpoint.hpp"

namespace gemma4 {

/// transformers' Gemma4TextScaledWordEmbedding: embedding(ids) * embed_scale.to(weight.dtype).
class ScaledWordEmbedding {
 public:
  /// The table `model.language_model.<name>.weight`, scaled by sqrt(scaled_size).
  ScaledWordEmbedding(const Checkpoint& checkpoint, const std::string& name, std::int64_t scaled_size,
                      lockstep::DType dtype);

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
