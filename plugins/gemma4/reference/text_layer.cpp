#include "reference/text_layer.hpp"

#include <ATen/ops/add.h>
#include <ATen/ops/mul.h>
#include <fmt/format.h>
#include <lockstep/torch.hpp>

#include "reference/blocks.hpp"

namespace gemma4 {

TextLayer::TextLayer(const TextConfig& config, std::int64_t index, const Weights& language_model)
    : config_(config),
      layer_(config.layers.at(static_cast<std::size_t>(index))),
      index_(index),
      weights_(language_model.under(fmt::format("layers.{}", index))) {}

at::Tensor TextLayer::norm(const std::string& name, const at::Tensor& x) const {
  return rms_norm(x, weights_(name + ".weight"), config_.rms_norm_eps);
}

at::Tensor TextLayer::forward(const at::Tensor& hidden, const at::Tensor& per_layer_input,
                              const RotaryEmbedding::Table& rope, const at::Tensor& mask, KeyValueStates& states,
                              const Taps& taps) const {
  const auto attended = attention(taps("in_norm", norm("input_layernorm", hidden)), rope, mask, states, taps);
  const auto after_attention =
      taps("resid1", at::add(hidden, taps("post_attn_norm", norm("post_attention_layernorm", attended))));

  const auto fed = mlp(taps("pre_ffn_norm", norm("pre_feedforward_layernorm", after_attention)), taps);
  const auto after_mlp =
      taps("resid2", at::add(after_attention, taps("post_ffn_norm", norm("post_feedforward_layernorm", fed))));

  const auto gated = gated_per_layer_input(after_mlp, per_layer_input, taps);
  const auto whole = taps("resid3", at::add(after_mlp, taps("ple_norm", norm("post_per_layer_input_norm", gated))));
  return taps("out", at::mul(whole, weights_("layer_scalar")));
}

at::Tensor TextLayer::attention(const at::Tensor& hidden, const RotaryEmbedding::Table& rope, const at::Tensor& mask,
                                KeyValueStates& states, const Taps& taps) const {
  const auto batch = hidden.size(0), length = hidden.size(1);
  const auto projected = lockstep::linear(hidden, weights_("self_attn.q_proj.weight"));
  const auto heads = taps("q", projected.view({batch, length, -1, layer_.head_dim}));
  const auto normed = taps("q_norm", norm("self_attn.q_norm", heads));
  const auto query = taps("q_rope", apply_rotary_pos_emb(normed, rope.cos, rope.sin)).transpose(1, 2);

  auto& shared = states.shared[layer_.type];
  if (!layer_.shares_kv) shared = states.cache.update(index_, own_key_value(hidden, rope, taps));
  const auto& [key, value] = shared;
  taps("kv_source.k", key);
  taps("kv_source.v", value);
  const auto context = eager_attention(query, key, value, mask, taps);
  return taps("o", lockstep::linear(context.reshape({batch, length, -1}), weights_("self_attn.o_proj.weight")));
}

KeyValue TextLayer::own_key_value(const at::Tensor& hidden, const RotaryEmbedding::Table& rope,
                                  const Taps& taps) const {
  const auto batch = hidden.size(0), length = hidden.size(1);
  const auto heads = [&](const std::string& name) {
    const auto projected = lockstep::linear(hidden, weights_(fmt::format("self_attn.{}_proj.weight", name)));
    return taps(name, projected.view({batch, length, -1, layer_.head_dim}));
  };
  const auto normed_key = taps("k_norm", norm("self_attn.k_norm", heads("k")));
  const auto key = taps("k_rope", apply_rotary_pos_emb(normed_key, rope.cos, rope.sin));
  const auto value = taps("v_norm", rms_norm(heads("v"), /*weight=*/{}, config_.rms_norm_eps));
  return {key.transpose(1, 2), value.transpose(1, 2)};
}

at::Tensor TextLayer::mlp(const at::Tensor& hidden, const Taps& taps) const {
  const auto gate = taps("act", gelu_tanh(taps("gate", lockstep::linear(hidden, weights_("mlp.gate_proj.weight")))));
  const auto up = taps("up", lockstep::linear(hidden, weights_("mlp.up_proj.weight")));
  return taps("down", lockstep::linear(taps("act_mul", at::mul(gate, up)), weights_("mlp.down_proj.weight")));
}

at::Tensor TextLayer::gated_per_layer_input(const at::Tensor& hidden, const at::Tensor& per_layer_input,
                                            const Taps& taps) const {
  // The gate reads the stream itself, without a norm.
  const auto gate =
      taps("ple_act", gelu_tanh(taps("ple_gate", lockstep::linear(hidden, weights_("per_layer_input_gate.weight")))));
  const auto gated = taps("ple_mul", at::mul(gate, per_layer_input));
  return taps("ple_proj", lockstep::linear(gated, weights_("per_layer_projection.weight")));
}

}  // namespace gemma4
