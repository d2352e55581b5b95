#include "runtime/text_weights.hpp"

#include <optional>
#include <string>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/torch.hpp>

#include "checkpoint/text_tensors.hpp"

namespace gemma4 {

TextWeights load_text_weights(const Checkpoint& checkpoint, at::ScalarType dtype) {
  const auto weight = [&](const std::string& name) {
    return lockstep::to_torch(checkpoint.weight("model.language_model." + name)).to(dtype);
  };
  TextWeights weights{.config = checkpoint.config().text,
                      .layers = {},
                      .per_layer_model_projection = weight("per_layer_model_projection.weight"),
                      .per_layer_projection_norm = weight("per_layer_projection_norm.weight"),
                      .norm = weight("norm.weight"),
                      .lm_head = weight("embed_tokens.weight")};
  PerLayerType<std::optional<std::size_t>> last_producer;
  for (std::size_t i = 0; i < weights.config.layers.size(); ++i) {
    const auto& config = weights.config.layers[i];
    const auto stem = fmt::format("layers.{}.", i);
    auto& layer = weights.layers.emplace_back();
    layer.input_layernorm = weight(stem + "input_layernorm.weight");
    layer.post_attention_layernorm = weight(stem + "post_attention_layernorm.weight");
    layer.pre_feedforward_layernorm = weight(stem + "pre_feedforward_layernorm.weight");
    layer.post_feedforward_layernorm = weight(stem + "post_feedforward_layernorm.weight");
    layer.post_per_layer_input_norm = weight(stem + "post_per_layer_input_norm.weight");
    layer.q_proj = weight(stem + "self_attn.q_proj.weight");
    layer.q_norm = weight(stem + "self_attn.q_norm.weight");
    layer.o_proj = weight(stem + "self_attn.o_proj.weight");
    layer.gate_proj = weight(stem + "mlp.gate_proj.weight");
    layer.up_proj = weight(stem + "mlp.up_proj.weight");
    layer.down_proj = weight(stem + "mlp.down_proj.weight");
    layer.per_layer_input_gate = weight(stem + "per_layer_input_gate.weight");
    layer.per_layer_projection = weight(stem + "per_layer_projection.weight");
    layer.layer_scalar = weight(stem + "layer_scalar");
    auto& producer = last_producer[config.type];
    if (!config.shares_kv) {
      layer.k_proj = weight(stem + "self_attn.k_proj.weight");
      layer.v_proj = weight(stem + "self_attn.v_proj.weight");
      layer.k_norm = weight(stem + "self_attn.k_norm.weight");
      producer = i;
    }
    if (!producer) {
      throw lockstep::Error{fmt::format("layer {} shares keys and values, but no layer of its type has any", i),
                            "check layer_types and num_kv_shared_layers of the checkpoint"};
    }
    layer.kv_source = *producer;
  }
  return weights;
}

}  // namespace gemma4
