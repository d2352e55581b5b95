#include "runtime/text_graph.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/rsqrt.h>
#include <fmt/format.h>

#include <lockstep/torch.hpp>

#include "runtime/fixed_shape.hpp"
#include "runtime/softmax.hpp"

namespace gemma4 {

using at::Tensor;

Rotation rotation_of(const Tensor& cos, const Tensor& sin) {
  const auto halves = sin.chunk(2, -1);
  return {.cos = cos.unsqueeze(1), .signed_sin = at::cat({halves[0].neg(), halves[1]}, -1).unsqueeze(1)};
}

TextGraph::TextGraph(TextWeights weights, std::int64_t max_seq, Fault fault)
    : weights_(std::move(weights)), max_seq_(max_seq), fault_(fault) {}

Tensor TextGraph::per_layer_projection(const Tensor& token, const Tensor& embeds) const {
  const std::vector<std::int64_t> sizes{embeds.size(0), config().num_hidden_layers,
                                        config().hidden_size_per_layer_input};
  const auto scale = 1.0 / std::sqrt(static_cast<double>(config().hidden_size));
  const auto context = lockstep::linear(embeds, weights_.per_layer_model_projection).mul(scale).view(sizes);
  return normalized(context, weights_.per_layer_projection_norm).add(token.view(sizes)).mul(1.0 / std::sqrt(2.0));
}

Tensor TextGraph::layers(const TextPass& pass, const lockstep::TensorVisitor& taps) const {
  std::vector<KeyValue> attended(weights_.layers.size());  // of producers
  auto hidden = pass.hidden;
  for (std::size_t i = 0; i < weights_.layers.size(); ++i) {
    hidden = decoder_layer(i, hidden, pass, attended, taps);
    ensure_static_shape(hidden, {pass.hidden.size(0), config().hidden_size}, fmt::format("output of layer {}", i));
    if (taps) taps(fmt::format("L{}.out", i), lockstep::Tensor(hidden.unsqueeze(0)));
  }
  return hidden;
}

Tensor TextGraph::decoder_layer(std::size_t index, const Tensor& hidden, const TextPass& pass,
                                std::vector<KeyValue>& attended, const lockstep::TensorVisitor& taps) const {
  const auto& layer = weights_.layers[index];
  const auto normed = normalized(hidden, layer.input_layernorm);
  if (layer.produces_kv()) attended[index] = pass.attended(index, new_keys_and_values(index, normed, pass, taps));
  auto x = hidden +
           normalized(attention(index, normed, pass, attended[layer.kv_source], taps), layer.post_attention_layernorm);
  x = x +
      normalized(mlp(index, normalized(x, layer.pre_feedforward_layernorm), taps), layer.post_feedforward_layernorm);
  const auto gate = gelu(lockstep::linear(x, layer.per_layer_input_gate)) *
                    pass.per_layer_inputs.select(1, static_cast<std::int64_t>(index));
  const auto branch = normalized(lockstep::linear(gate, layer.per_layer_projection), layer.post_per_layer_input_norm);
  if (fault_ == Fault::layer_scalar_misplaced) return x + branch * layer.layer_scalar;
  return (x + branch) * layer.layer_scalar;
}

KeyValue TextGraph::new_keys_and_values(std::size_t index, const Tensor& normed, const TextPass& pass,
                                        const lockstep::TensorVisitor& taps) const {
  const auto& layer = weights_.layers[index];
  const std::vector<std::int64_t> sizes{normed.size(0), config().num_key_value_heads, config().layers[index].head_dim};
  auto key = lockstep::linear(normed, layer.k_proj).view(sizes);
  auto value = lockstep::linear(normed, layer.v_proj).view(sizes);
  if (fault_ != Fault::key_norm_skipped) key = normalized(key, layer.k_norm);
  if (fault_ != Fault::value_norm_skipped) value = normalized(value);
  key = rotated(key, pass.rotation[config().layers[index].type]).transpose(0, 1);
  value = value.transpose(0, 1);
  if (taps) {
    taps(fmt::format("L{}.k", index), lockstep::Tensor(key.unsqueeze(0)));
    taps(fmt::format("L{}.v", index), lockstep::Tensor(value.unsqueeze(0)));
  }
  return {.key = key, .value = value};
}

// The queries of one key-value head are the rows of one matrix, so keys and values are never repeated.
Tensor TextGraph::attention(std::size_t index, const Tensor& normed, const TextPass& pass, const KeyValue& attended,
                            const lockstep::TensorVisitor& taps) const {
  const auto& layer = weights_.layers[index];
  const auto type = config().layers[index].type;
  const auto width = config().layers[index].head_dim;
  const auto rows = normed.size(0);
  const auto heads = config().num_attention_heads;
  const auto key_heads = config().num_key_value_heads;
  const auto grouped = heads / key_heads * rows;

  auto query = lockstep::linear(normed, layer.q_proj).view({rows, heads, width});
  if (fault_ != Fault::query_norm_skipped) query = normalized(query, layer.q_norm);
  query = rotated(query, pass.rotation[type]).transpose(0, 1).reshape({key_heads, grouped, width});

  ensure_static_shape(attended.key, {key_heads, max_seq_, width}, fmt::format("keys that layer {} attends to", index));
  ensure_static_shape(attended.value, attended.key.sizes(), fmt::format("values that layer {} attends to", index));
  const auto& mask = pass.mask[fault_ == Fault::sliding_mask_on_full_layers ? LayerType::sliding_attention : type];
  ensure_static_shape(mask, {rows, max_seq_}, fmt::format("mask of layer {}", index));
  if (taps) taps(fmt::format("L{}.mask", index), lockstep::Tensor(mask.unsqueeze(0).unsqueeze(0)));
  const bool swap = fault_ == Fault::kv_heads_swapped;
  const auto key = swap ? attended.key.flip(0) : attended.key;
  const auto value = swap ? attended.value.flip(0) : attended.value;
  const auto scores = lockstep::matmul(query, key.transpose(1, 2)).view({heads, rows, max_seq_}) + mask;
  const auto probabilities = softmax_in_float(scores).view({key_heads, grouped, max_seq_});
  const auto context = lockstep::matmul(probabilities, value).view({heads, rows, width}).transpose(0, 1);
  return lockstep::linear(context.reshape({rows, heads * width}), layer.o_proj);
}

Tensor TextGraph::mlp(std::size_t index, const Tensor& normed, const lockstep::TensorVisitor& taps) const {
  const auto& layer = weights_.layers[index];
  const auto gate = lockstep::linear(normed, layer.gate_proj);
  const auto activated = gelu(gate);
  if (taps) {
    taps(fmt::format("L{}.gate", index), lockstep::Tensor(gate.unsqueeze(0)));
    taps(fmt::format("L{}.act", index), lockstep::Tensor(activated.unsqueeze(0)));
  }
  return lockstep::linear(activated * lockstep::linear(normed, layer.up_proj), layer.down_proj);
}

Tensor TextGraph::lm_head(const Tensor& row) const {
  ensure_static_shape(row, {1, config().hidden_size}, "the row that logits are made of");
  return lockstep::linear(normalized(row, weights_.norm), weights_.lm_head);
}

Tensor TextGraph::normalized(const Tensor& x, const Tensor& weight) const {
  const auto wide = x.to(at::kFloat);
  auto result = wide * at::rsqrt(wide.square().mean(-1, true) + config().rms_norm_eps);
  if (weight.defined()) result = result * weight.to(at::kFloat);
  return result.to(x.scalar_type());
}

Tensor TextGraph::rotated(const Tensor& x, const Rotation& turn) const {
  const auto half = x.size(2) / 2;
  if (fault_ == Fault::rope_interleaved) {
    const auto pairs = [&](const Tensor& t) { return t.unflatten(-1, {half, 2}).transpose(-1, -2).flatten(-2); };
    const auto apart = pairs(x);
    const auto turned = apart * turn.cos + apart.roll(half, -1) * turn.signed_sin;
    return turned.unflatten(-1, {2, half}).transpose(-1, -2).flatten(-2);
  }
  return x * turn.cos + x.roll(half, -1) * turn.signed_sin;
}

Tensor TextGraph::gelu(const Tensor& x) const { return at::gelu(x, fault_ == Fault::gelu_erf ? "none" : "tanh"); }

}  // namespace gemma4
