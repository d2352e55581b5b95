#include "reference/native_reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <lockstep/diagnostic.hpp>
#include <lockstep/torch.hpp>
#include <string>
#include <utility>

#include "reference/attention_mask.hpp"
#include "reference/fusion.hpp"
#include "reference/generation.hpp"
#include "reference/masks.hpp"
#include "reference/modules.hpp"
#include "reference/session.hpp"

namespace gemma4 {
namespace {

using lockstep::DType;
using lockstep::Tensor;
using lockstep::TensorVisitor;

/// Of a type that no layer has: empty.
Tensor or_empty(const at::Tensor& tensor) { return tensor.defined() ? Tensor(tensor) : Tensor(); }

class NativeReference final : public Reference {
 public:
  NativeReference(std::shared_ptr<const Checkpoint> checkpoint, DType dtype)
      : modules_(std::make_shared<const Modules>(std::move(checkpoint), dtype)) {}

  DType dtype() const override { return lockstep::from_torch(modules_->dtype); }
  const Checkpoint& checkpoint() const override { return *modules_->checkpoint; }
  std::string identity() const override {
    return fmt::format("native, {} of {}", name_of(dtype()), checkpoint().folder().string());
  }

  Tensor token_embedding(const Tensor& input_ids) const override { return modules_->embed_tokens.forward(input_ids); }
  Tensor unscaled_embedding(const Tensor& input_ids) const override { return modules_->embed_tokens.rows(input_ids); }
  Tensor embed_scale() const override { return modules_->embed_tokens.embed_scale(); }

  Tensor image_features(const Tensor& pixel_values, const Tensor& image_position_ids,
                        const TensorVisitor& taps) const override {
    return modules_->image_features(pixel_values, image_position_ids, Taps(taps, "vis."));
  }
  Tensor fuse(const Tensor& text_embeds, const Tensor& image_mask, const Tensor& image_features) const override {
    return masked_scatter(lockstep::to_torch(text_embeds), lockstep::to_torch(image_mask),
                          lockstep::to_torch(image_features));
  }
  Tensor per_layer_inputs(const Tensor& llm_input_ids, const Tensor& fused_embeds,
                          const TensorVisitor& taps) const override {
    return modules_->per_layer_inputs.forward(llm_input_ids, lockstep::to_torch(fused_embeds), Taps(taps, "ple."));
  }

  AttentionMasks attention_masks(const Tensor& attention_mask, std::int64_t past_length) const override {
    const auto valid = valid_positions(attention_mask);
    if (past_length < 0 || past_length >= valid.size(1)) {
      throw lockstep::Error{fmt::format("past_length is {}, expected 0 to {}: attention_mask is {}", past_length,
                                        valid.size(1) - 1, attention_mask.to_string())};
    }
    const auto masks = causal_masks(modules_->config().text, valid, past_length, modules_->dtype);
    return {{or_empty(masks.sliding), or_empty(masks.full)}};
  }
  RopeTables rope(const Tensor& position_ids) const override {
    if (position_ids.dtype() != DType::int64 || position_ids.dim() != 2) {
      throw lockstep::Error{
          fmt::format("position_ids is {}, expected int64 [batch, sequence]", position_ids.to_string())};
    }
    const auto tables = modules_->rotary_embedding.forward(lockstep::to_torch(position_ids), Taps(TensorVisitor()));
    const auto table = [](const RotaryEmbedding::Table& of) -> RopeTable {
      return {or_empty(of.cos), or_empty(of.sin)};
    };
    return {{table(tables.sliding), table(tables.full)}};
  }
  std::unique_ptr<ReferenceSession> start() const override { return std::make_unique<NativeSession>(modules_); }
  ReferencePrompt prompt(const ModelInputs& inputs, const TensorVisitor& taps) const override {
    auto prompt = NativeSession(modules_).prompt(inputs, taps);
    prompt.made_by = identity();
    return prompt;
  }
  std::unique_ptr<ReferenceSession> resume(const ReferencePrompt& prompt) const override {
    return std::make_unique<NativeSession>(modules_, prompt);
  }
  Generation generate(const ReferencePrompt& prompt, std::int64_t max_new_tokens,
                      const std::function<void(std::int64_t, const Tensor&)>& each) const override {
    if (const auto& ids = prompt.inputs.input_ids; ids.dim() == 2 && ids.size(0) != 1) {
      throw lockstep::Error{fmt::format("input_ids is {}, expected one row to generate from", ids.to_string())};
    }
    const auto ids = generate_greedily(*this, prompt, max_new_tokens, each);
    const auto tokens = ids.values<std::int64_t>();
    const auto& eos = checkpoint().generation().eos_token_ids;
    const bool ended = std::ranges::find(eos, tokens.back()) != eos.end();
    return {{tokens.begin(), tokens.end()}, ended ? "eos" : "length"};
  }

 private:
  std::shared_ptr<const Modules> modules_;
};

}  // namespace

std::shared_ptr<const Reference> make_native_reference(std::shared_ptr<const Checkpoint> checkpoint, DType dtype) {
  if (dtype != DType::bfloat16 && dtype != DType::float32) {
    throw lockstep::Error{
        fmt::format("the reference cannot compute in {}, expected bfloat16 or float32", name_of(dtype)),
        "set the step's dtype"};
  }
  return std::make_shared<const NativeReference>(std::move(checkpoint), dtype);
}

}  // namespace gemma4
