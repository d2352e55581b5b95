#include "reference/native_reference.hpp"

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/torch.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "reference/embedding.hpp"
#include "reference/fusion.hpp"
#include "reference/per_layer_inputs.hpp"
#include "reference/vision_tower.hpp"

namespace gemma4 {
namespace {

using lockstep::DType;
using lockstep::Tensor;

void check_patches(const Tensor& pixel_values, const Tensor& position_ids, const VisionConfig& config) {
  const auto width = 3 * config.patch_size * config.patch_size;
  if (pixel_values.dim() != 3 || pixel_values.size(2) != width || !is_floating_point(pixel_values.dtype())) {
    throw lockstep::Error{
        fmt::format("pixel_values is {}, expected floating [pictures, patches, {}]", pixel_values.to_string(), width)};
  }
  const std::vector<std::int64_t> expected{pixel_values.size(0), pixel_values.size(1), 2};
  if (position_ids.dtype() != DType::int64 || position_ids.sizes() != expected) {
    throw lockstep::Error{fmt::format("image_position_ids is {}, expected int64 {}", position_ids.to_string(),
                                      lockstep::shape_text(expected))};
  }
}

class NativeReference final : public Reference {
 public:
  NativeReference(std::shared_ptr<const Checkpoint> checkpoint, DType dtype)
      : checkpoint_(std::move(checkpoint)),
        dtype_(dtype),
        embed_tokens_(*checkpoint_, "embed_tokens", checkpoint_->config().text.hidden_size, dtype),
        per_layer_inputs_(*checkpoint_, lockstep::to_torch(dtype)) {
    if (checkpoint_->config().vision) vision_.emplace(*checkpoint_, lockstep::to_torch(dtype));
  }

  DType dtype() const override { return dtype_; }
  const Checkpoint& checkpoint() const override { return *checkpoint_; }

  Tensor token_embedding(const Tensor& input_ids) const override { return embed_tokens_.forward(input_ids); }
  Tensor unscaled_embedding(const Tensor& input_ids) const override { return embed_tokens_.rows(input_ids); }
  Tensor embed_scale() const override { return embed_tokens_.embed_scale(); }

  Tensor image_features(const Tensor& pixel_values, const Tensor& image_position_ids,
                        const lockstep::TensorVisitor& taps) const override {
    if (!vision_) throw lockstep::Error{fmt::format("checkpoint '{}' has no vision tower", checkpoint_->name())};
    check_patches(pixel_values, image_position_ids, *checkpoint_->config().vision);
    return vision_->image_features(lockstep::to_torch(pixel_values), lockstep::to_torch(image_position_ids),
                                   Taps(taps, "vis."));
  }
  Tensor fuse(const Tensor& text_embeds, const Tensor& image_mask, const Tensor& image_features) const override {
    return masked_scatter(lockstep::to_torch(text_embeds), lockstep::to_torch(image_mask),
                          lockstep::to_torch(image_features));
  }
  Tensor per_layer_inputs(const Tensor& llm_input_ids, const Tensor& fused_embeds,
                          const lockstep::TensorVisitor& taps) const override {
    return per_layer_inputs_.forward(llm_input_ids, lockstep::to_torch(fused_embeds), Taps(taps, "ple."));
  }

 private:
  std::shared_ptr<const Checkpoint> checkpoint_;
  DType dtype_;
  ScaledWordEmbedding embed_tokens_;
  PerLayerInputs per_layer_inputs_;
  std::optional<VisionTower> vision_;
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
