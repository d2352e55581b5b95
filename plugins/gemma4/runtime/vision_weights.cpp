#include "runtime/vision_weights.hpp"

#include <string>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/torch.hpp>

namespace gemma4 {

VisionWeights load_vision_weights(const Checkpoint& checkpoint, at::ScalarType dtype) {
  const auto& config = checkpoint.config().vision;
  if (!config) {
    throw lockstep::Error{fmt::format("checkpoint '{}' has no vision tower", checkpoint.name()),
                          "run a text prompt, or use a checkpoint with a vision_config"};
  }
  const auto weight = [&](const std::string& name) {
    return lockstep::to_torch(checkpoint.weight("model." + name)).to(dtype);
  };
  const auto projection = [&](const std::string& name) {
    VisionProjection result{.weight = weight(name + ".linear.weight")};
    if (config->use_clipped_linears) {
      result.input_min = weight(name + ".input_min");
      result.input_max = weight(name + ".input_max");
      result.output_min = weight(name + ".output_min");
      result.output_max = weight(name + ".output_max");
    }
    return result;
  };

  VisionWeights weights{.config = *config,
                        .input_proj = weight("vision_tower.patch_embedder.input_proj.weight"),
                        .position_embedding_table = weight("vision_tower.patch_embedder.position_embedding_table"),
                        .embedding_projection = weight("embed_vision.embedding_projection.weight")};
  for (std::int64_t i = 0; i < config->num_hidden_layers; ++i) {
    const auto layer = fmt::format("vision_tower.encoder.layers.{}.", i);
    weights.layers.push_back({.input_layernorm = weight(layer + "input_layernorm.weight"),
                              .post_attention_layernorm = weight(layer + "post_attention_layernorm.weight"),
                              .pre_feedforward_layernorm = weight(layer + "pre_feedforward_layernorm.weight"),
                              .post_feedforward_layernorm = weight(layer + "post_feedforward_layernorm.weight"),
                              .q_norm = weight(layer + "self_attn.q_norm.weight"),
                              .k_norm = weight(layer + "self_attn.k_norm.weight"),
                              .q_proj = projection(layer + "self_attn.q_proj"),
                              .k_proj = projection(layer + "self_attn.k_proj"),
                              .v_proj = projection(layer + "self_attn.v_proj"),
                              .o_proj = projection(layer + "self_attn.o_proj"),
                              .gate_proj = projection(layer + "mlp.gate_proj"),
                              .up_proj = projection(layer + "mlp.up_proj"),
                              .down_proj = projection(layer + "mlp.down_proj")});
  }
  return weights;
}

}  // namespace gemma4
