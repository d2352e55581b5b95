#pragma once

#include <ATen/core/Tensor.h>

#include "reference/taps.hpp"
#include "reference/weights.hpp"

// The blocks that text and vision have in common, op for op as in transformers' modeling_gemma4. T is the model dtype;
// each ATen operation rounds to the dtype of its result.

namespace gemma4 {

/// Gemma4RMSNorm: x * (mean(x^2) + eps)^-0.5 [* weight] in float32, rounded once to x's dtype. The weight is plain, not
/// 1 + weight. An undefined weight: no scale.
[[nodiscard]] at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps);

/// Gemma4ClippableLinear: the input clamped, x W^T, the output clamped; bounds are 0-d weights beside `linear`.
[[nodiscard]] at::Tensor clippable_linear(const at::Tensor& x, const Weights& weights, bool clipped);

/// x * cos + rotate_half(x) * sin, three operations of x's dtype; dimension j pairs with j + D/2.
/// x [B, S, heads, D]; cos, sin [B, S, D].
[[nodiscard]] at::Tensor apply_rotary_pos_emb(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin);

/// eager_attention_forward with scaling 1.0: scores rounded to T, mask added, softmax in float32 rounded to T.
/// query [B, Hq, S, D], key and value [B, Hkv, K, D], mask additive and broadcastable to [B, 1, S, K] or undefined.
/// Returns [B, S, Hq, D], contiguous. Taps: scores, scores_masked, probs, ctx.
[[nodiscard]] at::Tensor eager_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                         const at::Tensor& mask, const Taps& taps);

/// torch.finfo(dtype).min of bfloat16 or float32: what eager masks hold where a position may not attend.
[[nodiscard]] double lowest(at::ScalarType dtype);

/// F.gelu(x, approximate="tanh")
[[nodiscard]] at::Tensor gelu_tanh(const at::Tensor& x);

}  // namespace gemma4
