#pragma once

#include <ATen/core/Tensor.h>

namespace gemma4 {

/// Gemma4Model's fusion: text_embeds [B, S, H] with the rows at true places of image_mask, bool [B, S], replaced by
/// image_features [V, H], row-major over batch then sequence, cast to the embeddings' dtype.
/// Throws lockstep::Error unless V is the number of true places and the widths agree.
[[nodiscard]] at::Tensor masked_scatter(const at::Tensor& text_embeds, const at::Tensor& image_mask,
                                        const at::Tensor& image_features);

}  // namespace gemma4
