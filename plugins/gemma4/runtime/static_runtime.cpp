#include "runtime/static_runtime.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/torch.hpp>

#include "runtime/eager_vision.hpp"
#include "runtime/faulty_parts.hpp"
#include "runtime/fusion.hpp"
#include "runtime/processor_contract.hpp"
#include "runtime/processor_settings.hpp"
#include "runtime/static_inputs.hpp"
#include "runtime/static_vision.hpp"
#include "runtime/text_model.hpp"
#include "runtime/text_session.hpp"
#include "runtime/token_rows.hpp"

namespace gemma4 {
namespace {

using lockstep::DType;
using lockstep::Error;
using lockstep::Tensor;

class StaticRuntime final : public Runtime {
 public:
  StaticRuntime(std::shared_ptr<const Checkpoint> checkpoint, const StaticRuntimeOptions& options)
      : checkpoint_(std::move(checkpoint)),
        profile_(options.profile),
        layout_(options.profile.layout(options.max_seq)),
        dtype_(options.dtype),
        mask_fill_(options.mask_fill),
        fault_(options.fault),
        ids_{.pad = checkpoint_->config().tokens.pad, .image = checkpoint_->config().tokens.image},
        embedding_(checkpoint_->weight("model.language_model.embed_tokens.weight")) {
    if (dtype_ != DType::bfloat16 && dtype_ != DType::float32) {
      throw Error{
          fmt::format("the static runtime computes in bfloat16 or float32, not in {}", lockstep::name_of(dtype_)),
          "set dtype"};
    }
    if (!is_mask_fill(mask_fill_)) {
      throw Error{fmt::format("mask_fill is {}, expected a finite negative number", mask_fill_),
                  "set mask_fill, for example to -120"};
    }
    layout_.validate();
    profile_.validate(layout_.max_seq, vision_geometry_of(*checkpoint_));
    profile_.validate_processor(processor_settings_of(*checkpoint_));
  }

  const StaticLayout& layout() const override { return layout_; }
  const VisionProfile& profile() const override { return profile_; }
  DType dtype() const override { return dtype_; }

  StaticBatch build_static_inputs(const RawInputs& raw) const override {
    return build_static_batch(raw, layout_, profile_, ids_);
  }

  Tensor token_embedding(const Tensor& input_ids) const override {
    if (input_ids.dtype() != DType::int64 || input_ids.dim() != 2 || input_ids.size(0) != 1) {
      throw Error{fmt::format("input_ids is {}, token_embedding takes int64 [1, n]", input_ids.to_string())};
    }
    const auto ids = input_ids.contiguous();
    return scaled_rows(embedding_, ids.values<std::int64_t>(), token_scale(embedding_.size(1), dtype_, fault_), dtype_);
  }

  Tensor vision_prefill(const Tensor& pixel_values, const Tensor& image_position_ids,
                        const lockstep::TensorVisitor& taps) const override {
    validate_image_position_ids(profile_, image_position_ids);
    const std::vector<std::int64_t> sizes{1, profile_.num_patches(), profile_.patch_vector_size()};
    if (pixel_values.sizes() != sizes || (pixel_values.dtype() != DType::float32 && pixel_values.dtype() != dtype_)) {
      throw Error{fmt::format("pixel_values is {}, vision_prefill takes float32 or {} {}", pixel_values.to_string(),
                              lockstep::name_of(dtype_), lockstep::shape_text(sizes)),
                  "pass the image processor's pixel_values"};
    }
    const auto& vision = specialised_vision();
    const auto pixels = damaged_pixels(lockstep::to_torch(pixel_values), profile_, fault_);
    return damaged_features(static_vision_prefill(vision.static_weights, vision.tables, pixels, taps), fault_);
  }

  std::optional<Tensor> eager_image_features(const Tensor& pixel_values, const Tensor& image_position_ids,
                                             const lockstep::TensorVisitor& taps) const override {
    return eager_vision_features(specialised_vision().weights, lockstep::to_torch(pixel_values),
                                 lockstep::to_torch(image_position_ids), taps);
  }

  Tensor fuse(const Tensor& text_embeds, const Tensor& visual_embeds) const override {
    const auto start = layout_.visual_start_idx + (fault_ == Fault::fusion_shifted ? 1 : 0);
    return fixed_slot_fuse(lockstep::to_torch(text_embeds), lockstep::to_torch(visual_embeds), start,
                           layout_.num_visual_tokens);
  }

  double mask_fill() const override { return mask_fill_; }

  AttentionMasks attention_masks(const Tensor& attention_mask) const override {
    const std::vector<std::int64_t> sizes{1, layout_.max_seq};
    if (attention_mask.dtype() != DType::boolean || attention_mask.sizes() != sizes) {
      throw Error{fmt::format("attention_mask is {}, expected bool {}", attention_mask.to_string(),
                              lockstep::shape_text(sizes)),
                  "pass the attention_mask of the static batch"};
    }
    validate_padding_layout(attention_mask);
    const auto valid = attention_mask.contiguous();
    return text().prefill_masks(std::ranges::count(valid.values<bool>(), true));
  }

  RopeTables rope(const Tensor& position_ids) const override {
    if (position_ids.dtype() != DType::int64 || position_ids.dim() != 2 || position_ids.size(0) != 1) {
      throw Error{fmt::format("position_ids is {}, expected int64 [1, n]", position_ids.to_string())};
    }
    const auto positions = position_ids.contiguous();
    return text().rope(positions.values<std::int64_t>());
  }

  std::unique_ptr<RuntimeSession> start() const override { return make_text_session(shared_text()); }
  std::unique_ptr<RuntimeSession> resume(const KvCache& snapshot) const override {
    return make_text_session(shared_text(), &snapshot);
  }

  std::shared_ptr<const Runtime> with_max_seq(std::int64_t max_seq) const override {
    return make_static_runtime(
        checkpoint_,
        {.profile = profile_, .max_seq = max_seq, .dtype = dtype_, .mask_fill = mask_fill_, .fault = fault_});
  }

 private:
  struct Vision {
    VisionWeights weights;
    VisionWeights static_weights;  // the same unless a fault is injected: the eager view has none
    VisionTables tables;
  };

  /// Made for the profile at the first picture: a run without one does not touch the tower's weights.
  const Vision& specialised_vision() const {
    std::call_once(vision_made_, [this] {
      auto weights = load_vision_weights(*checkpoint_, lockstep::to_torch(dtype_));
      auto static_weights = weights;
      damage(static_weights, fault_);
      auto tables = bake_vision_tables(profile_, static_weights, mask_fill_);
      damage(tables, profile_, fault_);
      vision_ =
          std::make_unique<const Vision>(Vision{std::move(weights), std::move(static_weights), std::move(tables)});
    });
    return *vision_;
  }

  /// Made at the first use, as the vision is.
  const std::shared_ptr<const TextModel>& shared_text() const {
    std::call_once(text_made_, [this] {
      text_ = std::make_shared<const TextModel>(
          *checkpoint_,
          TextModelOptions{.max_seq = layout_.max_seq, .dtype = dtype_, .mask_fill = mask_fill_, .fault = fault_});
    });
    return text_;
  }
  const TextModel& text() const { return *shared_text(); }

  std::shared_ptr<const Checkpoint> checkpoint_;
  VisionProfile profile_;
  StaticLayout layout_;
  DType dtype_;
  double mask_fill_;
  Fault fault_;
  PlaceholderIds ids_;
  Tensor embedding_;  // [vocab_size, H], a view of the map
  mutable std::once_flag vision_made_;
  mutable std::unique_ptr<const Vision> vision_;
  mutable std::once_flag text_made_;
  mutable std::shared_ptr<const TextModel> text_;
};

}  // namespace

bool is_mask_fill(double value) {
  constexpr double lowest_bfloat16 = -3.3895313892515355e38;
  return value < 0 && value >= lowest_bfloat16;
}

std::shared_ptr<const Runtime> make_static_runtime(std::shared_ptr<const Checkpoint> checkpoint,
                                                   const StaticRuntimeOptions& options) {
  return std::make_shared<StaticRuntime>(std::move(checkpoint), options);
}

}  // namespace gemma4
