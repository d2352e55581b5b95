#include "reference/text_model.hpp"

#include <ATen/ops/div.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/tanh.h>
#include <fmt/format.h>

#include <algorithm>
#include <lockstep/kernels.hpp>
#include <utility>

#include "reference/blocks.hpp"

namespace gemma4 {
namespace {

/// The last `count` positions of everything that has one entry per query.
void keep_last(std::int64_t count, at::Tensor& hidden, TextInputs& inputs) {
  const auto last = [count](at::Tensor& tensor, std::int64_t axis) {
    if (tensor.defined()) tensor = tensor.slice(axis, std::max<std::int64_t>(tensor.size(axis) - count, 0));
  };
  last(hidden, 1);
  last(inputs.per_layer_inputs, 1);
  for (const auto type : {LayerType::sliding_attention, LayerType::full_attention}) {
    last(inputs.rope[type].cos, 1);
    last(inputs.rope[type].sin, 1);
    last(inputs.masks[type], 2);
  }
}

}  // namespace

TextModel::TextModel(const Checkpoint& checkpoint, at::ScalarType dtype)
    : config_(checkpoint.config().text), weights_(checkpoint, dtype, "model.language_model.") {
  for (std::int64_t i = 0; i < config_.num_hidden_layers; ++i) layers_.emplace_back(config_, i, weights_);
}

at::Tensor TextModel::forward(TextInputs inputs, DynamicCache& cache, std::int64_t logits_to_keep,
                              const Taps& taps) const {
  const auto length = inputs.inputs_embeds.size(1);
  const auto first_sharing = config_.num_hidden_layers - config_.num_kv_shared_layers;
  KeyValueStates states{cache, {}};
  auto hidden = inputs.inputs_embeds;
  for (std::int64_t i = 0; i < config_.num_hidden_layers; ++i) {
    if (i == first_sharing && logits_to_keep > 0) keep_last(logits_to_keep, hidden, inputs);
    const auto type = config_.layers[static_cast<std::size_t>(i)].type;
    hidden =
        layers_[static_cast<std::size_t>(i)].forward(hidden, inputs.per_layer_inputs.select(2, i), inputs.rope[type],
                                                     inputs.masks[type], states, taps.under(fmt::format("L{}", i)));
  }
  cache.advance(length);
  hidden = taps("final_norm", rms_norm(hidden, weights_("norm.weight"), config_.rms_norm_eps));
  if (logits_to_keep > 0) hidden = hidden.slice(1, std::max<std::int64_t>(hidden.size(1) - logits_to_keep, 0));
  return hidden;
}

at::Tensor TextModel::logits(const at::Tensor& hidden, const Taps& taps) const {
  auto logits = taps("logits_raw", lockstep::linear(hidden, weights_("embed_tokens.weight")));
  if (const auto cap = config_.final_logit_softcapping) {
    logits = at::mul(at::tanh(at::div(logits, *cap)), *cap);
  }
  return taps("logits_capped", logits);
}

}  // namespace gemma4
