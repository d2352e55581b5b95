#include "reference/per_layer_inputs.hpp"

#include <ATen/ops/add.h>
#include <ATen/ops/mul.h>

#include <cmath>
#include <lockstep/torch.hpp>

#include "reference/blocks.hpp"

namespace gemma4 {

PerLayerInputs::PerLayerInputs(const Checkpoint& checkpoint, at::ScalarType dtype)
    : config_(checkpoint.config().text),
      embed_tokens_per_layer_(checkpoint, "embed_tokens_per_layer", config_.hidden_size_per_layer_input,
                              lockstep::from_torch(dtype)),
      weights_(checkpoint, dtype, "model.language_model.") {}

at::Tensor PerLayerInputs::forward(const lockstep::Tensor& llm_input_ids, const at::Tensor& fused_embeds,
                                   const Taps& taps) const {
  const auto batch = fused_embeds.size(0), length = fused_embeds.size(1);
  const auto per_layer = [&](const at::Tensor& packed) {
    return packed.reshape({batch, length, config_.num_hidden_layers, config_.hidden_size_per_layer_input});
  };
  const auto token = taps("token", per_layer(embed_tokens_per_layer_.forward(llm_input_ids)));

  const auto projected =
      taps("ctx_proj", lockstep::linear(fused_embeds, weights_("per_layer_model_projection.weight")));
  const auto scaled =
      taps("ctx_scaled", per_layer(at::mul(projected, std::pow(static_cast<double>(config_.hidden_size), -0.5))));
  const auto context =
      taps("ctx_norm", rms_norm(scaled, weights_("per_layer_projection_norm.weight"), config_.rms_norm_eps));
  return taps("combined", at::mul(at::add(context, token), std::pow(2.0, -0.5)));
}

}  // namespace gemma4
