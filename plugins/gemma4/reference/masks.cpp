#include "reference/masks.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/le.h>
#include <ATen/ops/logical_and.h>
#include <ATen/ops/logical_not.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "reference/blocks.hpp"

namespace gemma4 {

PerLayerType<at::Tensor> causal_masks(const TextConfig& config, const at::Tensor& attention_mask,
                                      std::int64_t past_length, at::ScalarType dtype) {
  const auto batch = attention_mask.size(0), length = attention_mask.size(1);
  const auto query = at::arange(past_length, length).unsqueeze(1);  // [Q, 1]
  const auto mask = [&](const at::Tensor& key, const at::Tensor& pattern) {
    const auto valid = attention_mask.slice(1, length - key.size(0)).view({batch, 1, 1, -1});
    const auto allowed = at::logical_and(pattern, valid);  // [B, 1, Q, keys]
    return at::zeros(allowed.sizes(), dtype).masked_fill(at::logical_not(allowed), at::Scalar(lowest(dtype)));
  };

  PerLayerType<at::Tensor> masks;
  if (config.head_dim(LayerType::full_attention) > 0) {
    const auto key = at::arange(0, length);
    masks.full = mask(key, at::le(key, query));
  }
  if (config.head_dim(LayerType::sliding_attention) > 0) {
    const auto key = at::arange(std::max<std::int64_t>(past_length - (config.sliding_window - 1), 0), length);
    masks.sliding = mask(key, at::logical_and(at::le(key, query), at::gt(key, at::sub(query, config.sliding_window))));
  }
  return masks;
}

}  // namespace gemma4
