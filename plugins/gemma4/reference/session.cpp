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

void check_prompt(const ModelInputs& inputs) {
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
}

}  // namespace

NativeSession::NativeSession(std::shared_ptr<const Modules> modules)
    : modules_(std::move(modules)), cache_(modules_->config().text) {}

NativeSession::NativeSession(std::shared_ptr<const Modules> modules, const ReferencePrompt& prompt)
    : NativeSession(std::move(modules)) {
  const auto help = "resume what Reference::prompt of this reference made";
  const auto valid = valid_positions(prompt.inputs.attention_mask);
  if (valid.size(1) != prompt.cache.length) {
    throw Error{fmt::format("the prompt's cache has {} positions, its attention_mask is {}", prompt.cache.length,
                            prompt.inputs.attention_mask.to_string()),
                help};
  }
  const std::vector<std::int64_t> row{valid.size(0), 1, modules_->config().text.vocab_size};
  if (prompt.logits.sizes() != row || lockstep::to_torch(prompt.logits.dtype()) != modules_->dtype) {
    throw Error{fmt::format("the prompt's logits are {}, expected {} {}", prompt.logits.to_string(),
                            lockstep::name_of(lockstep::from_torch(modules_->dtype)), lockstep::shape_text(row)),
                help};
  }
  cache_.restore(prompt.cache, valid.size(0), modules_->dtype);
  valid_ = valid;
}

ReferencePrompt NativeSession::prompt(const ModelInputs& inputs, const lockstep::TensorVisitor& taps) {
  const auto pass = begin_prompt(inputs, Taps(taps));
  if (taps) static_cast<void>(modules_->text.finish(pass, 0, Taps(taps)));
  const lockstep::TensorVisitor unseen;
  return {.made_by = {}, .inputs = inputs, .cache = snapshot(), .logits = logits(pass, 1, Taps(unseen))};
}

Tensor NativeSession::prefill(const ModelInputs& inputs, std::int64_t logits_to_keep,
                              const lockstep::TensorVisitor& taps) {
  if (logits_to_keep < 0) {
    throw Error{fmt::format("logits_to_keep is {}, expected 0 (all positions) or more", logits_to_keep)};
  }
  return logits(begin_prompt(inputs, Taps(taps)), logits_to_keep, Taps(taps));
}

Tensor NativeSession::decode(const Tensor& input_ids, const lockstep::TensorVisitor& taps) {
  if (!valid_.defined()) throw Error{"decode was called before prefill"};
  const std::vector<std::int64_t> expected{valid_.size(0), 1};
  if (input_ids.dtype() != DType::int64 || input_ids.sizes() != expected) {
    throw Error{
        fmt::format("input_ids is {}, expected int64 {}", input_ids.to_string(), lockstep::shape_text(expected))};
  }
  const auto valid = at::cat({valid_, at::ones({valid_.size(0), 1}, at::kBool)}, 1);
  return logits(begin(lockstep::to_torch(input_ids), valid, nullptr, Taps(taps)), 0, Taps(taps));
}

BegunPass NativeSession::begin_prompt(const ModelInputs& inputs, const Taps& taps) {
  if (valid_.defined()) throw Error{"prefill was called twice in one session", "start a session for each prompt"};
  check_prompt(inputs);
  return begin(lockstep::to_torch(inputs.input_ids), valid_positions(inputs.attention_mask), &inputs, taps);
}

BegunPass NativeSession::begin(const at::Tensor& input_ids, const at::Tensor& valid, const ModelInputs* pictures,
                               const Taps& taps) {
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
  auto pass = modules_->text.begin(text, cache_, taps);
  valid_ = valid;
  return pass;
}

at::Tensor NativeSession::logits(BegunPass pass, std::int64_t logits_to_keep, const Taps& taps) const {
  return modules_->text.logits(modules_->text.finish(std::move(pass), logits_to_keep, taps), taps);
}

}  // namespace gemma4
