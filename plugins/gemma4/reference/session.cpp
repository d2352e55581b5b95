#include "reference/session.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/logical_or.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/torch.hpp>
#include <utility>
#include <vector>

#include "reference/attention_mask.hpp"
#include "reference/fusion.hpp"
#include "reference/masks.hpp"

namespace gemma4 {
namespace {

using lockstep::DType;
using lockstep::Error;
using lockstep::Tensor;

/// True where a picture, a sound or a film stands in for text.
at::Tensor placeholders(const at::Tensor& input_ids, const SpecialTokenIds& tokens) {
  auto found = at::zeros_like(input_ids, at::TensorOptions().dtype(at::kBool));
  for (const auto& id : {tokens.image, tokens.video, tokens.audio}) {
    if (id) found = at::logical_or(found, at::eq(input_ids, *id));
  }
  return found;
}

void check_prompt(const ModelInputs& inputs, std::int64_t logits_to_keep) {
  const auto& ids = inputs.input_ids;
  if (ids.dtype() != DType::int64 || ids.dim() != 2 || ids.numel() == 0) {
    throw Error{fmt::format("input_ids is {}, expected int64 [batch, sequence], not empty", ids.to_string())};
  }
  if (inputs.attention_mask.sizes() != ids.sizes()) {
    throw Error{fmt::format("attention_mask is {}, expected {} as input_ids", inputs.attention_mask.to_string(),
                            lockstep::shape_text(ids.sizes()))};
  }
  if (inputs.pixel_values.has_value() != inputs.image_position_ids.has_value()) {
    throw Error{"pixel_values and image_position_ids must be given together, found one of them"};
  }
  if (logits_to_keep < 0) {
    throw Error{fmt::format("logits_to_keep is {}, expected 0 (all positions) or more", logits_to_keep)};
  }
}

}  // namespace

NativeSession::NativeSession(std::shared_ptr<const Modules> modules)
    : modules_(std::move(modules)), cache_(modules_->config().text) {}

Tensor NativeSession::prefill(const ModelInputs& inputs, std::int64_t logits_to_keep,
                              const lockstep::TensorVisitor& taps) {
  if (valid_.defined()) throw Error{"prefill was called twice in one session", "start a session for each prompt"};
  check_prompt(inputs, logits_to_keep);
  return pass(lockstep::to_torch(inputs.input_ids), valid_positions(inputs.attention_mask), &inputs, logits_to_keep,
              Taps(taps));
}

Tensor NativeSession::decode(const Tensor& input_ids, const lockstep::TensorVisitor& taps) {
  if (!valid_.defined()) throw Error{"decode was called before prefill"};
  const std::vector<std::int64_t> expected{valid_.size(0), 1};
  if (input_ids.dtype() != DType::int64 || input_ids.sizes() != expected) {
    throw Error{
        fmt::format("input_ids is {}, expected int64 {}", input_ids.to_string(), lockstep::shape_text(expected))};
  }
  const auto valid = at::cat({valid_, at::ones({valid_.size(0), 1}, at::kBool)}, 1);
  return pass(lockstep::to_torch(input_ids), valid, nullptr, 0, Taps(taps));
}

at::Tensor NativeSession::pass(const at::Tensor& input_ids, const at::Tensor& valid, const ModelInputs* pictures,
                               std::int64_t logits_to_keep, const Taps& taps) {
  const auto& tokens = modules_->config().tokens;
  const auto llm = taps.under("llm");
  const auto llm_ids = llm("ids", input_ids.masked_fill(placeholders(input_ids, tokens), tokens.pad));
  auto embeds = llm("embed", modules_->embed_tokens.forward(llm_ids));
  if (pictures != nullptr && pictures->pixel_values) {
    const auto features =
        modules_->image_features(*pictures->pixel_values, *pictures->image_position_ids, taps.under("vis"));
    const auto image = tokens.image ? at::eq(input_ids, *tokens.image)
                                    : at::zeros_like(input_ids, at::TensorOptions().dtype(at::kBool));
    embeds = masked_scatter(embeds, image, features);
  }
  llm("fused", embeds);

  const auto positions = llm("position_ids", position_ids(valid).slice(1, cache_.length()));
  const auto masks = causal_masks(modules_->config().text, valid, cache_.length(), modules_->dtype);
  for (const auto& [name, mask] : {std::pair("sliding", masks.sliding), std::pair("full", masks.full)}) {
    if (mask.defined()) taps.under("mask")(name, mask);
  }
  const TextInputs text{.inputs_embeds = embeds,
                        .per_layer_inputs = modules_->per_layer_inputs.forward(llm_ids, embeds, taps.under("ple")),
                        .rope = modules_->rotary_embedding.forward(positions, taps.under("rope")),
                        .masks = masks};
  const auto hidden = modules_->text.forward(text, cache_, logits_to_keep, taps);
  valid_ = valid;
  return modules_->text.logits(hidden, taps);
}

}  // namespace gemma4
