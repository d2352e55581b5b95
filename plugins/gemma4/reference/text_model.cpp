#include "reference/text_model.hpp"

#include <ATen/ops/div.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/tanh.h>
#include <fmt/format.h>

#include <algorithm>
#include <lockstep/torch.hpp>
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

BegunPass TextModel::begin(TextInputs inputs, DynamicCache& cache, const Taps& taps) const {
  const auto hidden = inputs.inputs_embeds;
  BegunPass pass{.inputs = std::move(inputs), .hidden = hidden, .states = {cache, {}}};
  run_layers(0, config_.num_hidden_layers - config_.num_kv_shared_layers, pass, taps);
  cache.advance(hidden.size(1));
  return pass;
}

at::Tensor TextModel::finish(BegunPass pass, std::int64_t logits_to_keep, const Taps& taps) const {
  const auto first_sharing = config_.num_hidden_layers - config_.num_kv_shared_layers;
  if (logits_to_keep > 0 && config_.num_kv_shared_layers > 0) keep_last(logits_to_keep, pass.hidden, pass.inputs);
  run_layers(first_sharing, config_.num_hidden_layers, pass, taps);
  auto hidden = taps("final_norm", rms_norm(pass.hidden, weights_("norm.weight"), config_.rms_norm_eps));
  if (logits_to_keep > 0) hidden = hidden.slice(1, std::max<std::int64_t>(hidden.size(1) - logits_to_keep, 0));
  return hidden;
}

void TextModel::run_layers(std::int64_t first, std::int64_t end, BegunPass& pass, const Taps& taps) const {
  for (auto i = first; i < end; ++i) {
    const auto index = static_cast<std::size_t>(i);
    const auto type = config_.layers[index].type;
    pass.hidden = layers_[index].forward(pass.hidden, pass.inputs.per_layer_inputs.select(2, i), pass.inputs.rope[type],
                                         pass.inputs.masks[type], pass.states, taps.under(fmt::format("L{}", i)));
  }
}

at::Tensor TextModel::logits(const at::Tensor& hidden, const Taps& taps) const {
  auto logits = taps("logits_raw", lockstep::linear(hidden, weights_("embed_tokens.weight")));
  if (const auto cap = config_.final_logit_softcapping) {
    logits = at::mul(at::tanh(at::div(logits, *cap)), *cap);
  }
  return taps("logits_capped", logits);
}

}  // namespace gemma4
