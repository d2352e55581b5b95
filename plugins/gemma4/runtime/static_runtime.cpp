#include "runtime/static_runtime.hpp"

#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <ATen/ops/empty.h>
#include <c10/util/BFloat16.h>
#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/torch.hpp>

#include "runtime/eager_vision.hpp"
#include "runtime/fusion.hpp"
#include "runtime/processor_contract.hpp"
#include "runtime/processor_settings.hpp"
#include "runtime/static_inputs.hpp"
#include "runtime/static_vision.hpp"

namespace gemma4 {
namespace {

using lockstep::DType;
using lockstep::Error;
using lockstep::Tensor;

/// sqrt(width) as it takes part in the product: transformers casts the scale to the dtype of the weights first.
double embedding_scale(std::int64_t width, DType dtype) {
  const auto scale = static_cast<float>(std::sqrt(static_cast<double>(width)));
  return dtype == DType::bfloat16 ? static_cast<float>(c10::BFloat16(scale)) : scale;
}

/// Copies the rows of `table` ([V, H]) that `ids` name. By bytes: the table may be unaligned, and LibTorch would copy
/// all of it first.
at::Tensor gather_rows(const Tensor& table, std::span<const std::int64_t> ids) {
  const auto vocabulary = table.size(0);
  const auto width = table.size(1);
  const auto bytes = static_cast<std::size_t>(width) * lockstep::element_size(table.dtype());
  const auto rows =
      at::empty({1, static_cast<std::int64_t>(ids.size()), width}, at::dtype(lockstep::to_torch(table.dtype())));
  auto* out = static_cast<std::byte*>(rows.mutable_data_ptr());
  for (std::size_t i = 0; i < ids.size(); ++i, out += bytes) {
    if (ids[i] < 0 || ids[i] >= vocabulary) {
      throw Error{fmt::format("input_ids[0, {}] is {}, the vocabulary has ids 0 to {}", i, ids[i], vocabulary - 1),
                  "use the tokenizer of this checkpoint"};
    }
    std::memcpy(out, table.data() + static_cast<std::size_t>(ids[i]) * bytes, bytes);
  }
  return rows;
}

class StaticRuntime final : public Runtime {
 public:
  StaticRuntime(std::shared_ptr<const Checkpoint> checkpoint, const StaticRuntimeOptions& options)
      : checkpoint_(std::move(checkpoint)),
        profile_(options.profile),
        layout_{.max_seq = options.max_seq,
                .visual_start_idx = options.profile.visual_start_idx,
                .num_visual_tokens = options.profile.num_visual_tokens,
                .batch_size = options.profile.batch_size},
        dtype_(options.dtype),
        mask_fill_(options.mask_fill),
        ids_{.pad = checkpoint_->config().tokens.pad, .image = checkpoint_->config().tokens.image},
        embedding_(checkpoint_->weight("model.language_model.embed_tokens.weight")) {
    if (dtype_ != DType::bfloat16 && dtype_ != DType::float32) {
      throw Error{
          fmt::format("the static runtime computes in bfloat16 or float32, not in {}", lockstep::name_of(dtype_)),
          "set dtype"};
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
    auto embeds = gather_rows(embedding_, ids.values<std::int64_t>()).to(lockstep::to_torch(dtype_));
    return embeds.mul_(embedding_scale(embedding_.size(1), dtype_));
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
    return static_vision_prefill(vision.weights, vision.tables, lockstep::to_torch(pixel_values), taps);
  }

  std::optional<Tensor> eager_image_features(const Tensor& pixel_values,
                                             const Tensor& image_position_ids) const override {
    return eager_vision_features(specialised_vision().weights, lockstep::to_torch(pixel_values),
                                 lockstep::to_torch(image_position_ids));
  }

  Tensor fuse(const Tensor& text_embeds, const Tensor& visual_embeds) const override {
    return fixed_slot_fuse(lockstep::to_torch(text_embeds), lockstep::to_torch(visual_embeds), layout_.visual_start_idx,
                           layout_.num_visual_tokens);
  }

 private:
  struct Vision {
    VisionWeights weights;
    VisionTables tables;
  };

  /// Made for the profile at the first picture: a run without one does not touch the tower's weights.
  const Vision& specialised_vision() const {
    std::call_once(vision_made_, [this] {
      auto weights = load_vision_weights(*checkpoint_, lockstep::to_torch(dtype_));
      auto tables = bake_vision_tables(profile_, weights, mask_fill_);
      vision_ = std::make_unique<const Vision>(Vision{std::move(weights), std::move(tables)});
    });
    return *vision_;
  }

  std::shared_ptr<const Checkpoint> checkpoint_;
  VisionProfile profile_;
  StaticLayout layout_;
  DType dtype_;
  double mask_fill_;
  PlaceholderIds ids_;
  Tensor embedding_;  // [vocab_size, H], a view of the map
  mutable std::once_flag vision_made_;
  mutable std::unique_ptr<const Vision> vision_;
};

}  // namespace

std::shared_ptr<const Runtime> make_static_runtime(std::shared_ptr<const Checkpoint> checkpoint,
                                                   const StaticRuntimeOptions& options) {
  return std::make_shared<StaticRuntime>(std::move(checkpoint), options);
}

}  // namespace gemma4
