#include "reference/blocks.hpp"

#include <ATen/ops/add.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/softmax.h>

#include <limits>
#include <lockstep/torch.hpp>

namespace gemma4 {
namespace {

at::Tensor rotate_half(const at::Tensor& x) {
  const auto half = x.size(-1) / 2;
  return at::cat({at::neg(x.slice(-1, half)), x.slice(-1, 0, half)}, -1);
}

/// [B, Hkv, K, D] -> [B, Hkv * repeats, K, D], each head `repeats` times in a row.
at::Tensor repeat_kv(const at::Tensor& states, std::int64_t repeats) {
  if (repeats == 1) return states;
  const auto batch = states.size(0), heads = states.size(1), length = states.size(2), head_dim = states.size(3);
  return states.unsqueeze(2)
      .expand({batch, heads, repeats, length, head_dim})
      .reshape({batch, heads * repeats, length, head_dim});
}

/// softmax(x, -1, dtype=float32) rounded to x's dtype, one head after the other where they are large: a row's result
/// depends on that row alone, and the float32 values of all heads need twice the memory of everything else.
at::Tensor softmax_in_float(const at::Tensor& x) {
  constexpr std::int64_t large = std::int64_t{1} << 20;  // elements: 4 MiB of float32
  if (x.numel() <= large) return at::softmax(x, -1, at::kFloat).to(x.scalar_type());
  auto result = at::empty_like(x);
  for (std::int64_t head = 0; head < x.size(1); ++head) {
    result.select(1, head).copy_(at::softmax(x.select(1, head), -1, at::kFloat));
  }
  return result;
}

}  // namespace

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  const auto f = x.to(at::kFloat);
  const auto mean_squared = at::add(at::mean(at::pow(f, 2), {-1}, /*keepdim=*/true), eps);
  auto normed = at::mul(f, at::pow(mean_squared, -0.5));
  if (weight.defined()) normed = at::mul(normed, weight.to(at::kFloat));
  return normed.to(x.scalar_type());
}

at::Tensor clippable_linear(const at::Tensor& x, const Weights& weights, bool clipped) {
  if (!clipped) return lockstep::linear(x, weights("linear.weight"));
  const auto bounded = at::clamp(x, weights("input_min"), weights("input_max"));
  return at::clamp(lockstep::linear(bounded, weights("linear.weight")), weights("output_min"), weights("output_max"));
}

at::Tensor apply_rotary_pos_emb(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin) {
  return at::add(at::mul(x, cos.unsqueeze(2)), at::mul(rotate_half(x), sin.unsqueeze(2)));
}

at::Tensor eager_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                           const at::Tensor& mask, const Taps& taps) {
  const auto repeats = query.size(1) / key.size(1);
  const auto keys = repeat_kv(key, repeats);
  const auto values = repeat_kv(value, repeats);
  auto weights = taps("scores", at::mul(lockstep::matmul(query, keys.transpose(2, 3)), 1.0));
  if (mask.defined()) weights = taps("scores_masked", at::add(weights, mask));
  weights = taps("probs", softmax_in_float(weights));
  return taps("ctx", lockstep::matmul(weights, values).transpose(1, 2).contiguous());
}

double lowest(at::ScalarType dtype) {
  return dtype == at::kBFloat16 ? static_cast<double>(std::numeric_limits<c10::BFloat16>::lowest())
                                : static_cast<double>(std::numeric_limits<float>::lowest());
}

at::Tensor gelu_tanh(const at::Tensor& x) { return at::gelu(x, "tanh"); }

}  // namespace gemma4
