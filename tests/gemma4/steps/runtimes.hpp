#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "checkpoint/checkpoint.hpp"
#include "reference/native_reference.hpp"
#include "runtime/known_profiles.hpp"
#include "runtime/static_runtime.hpp"

namespace gemma4::test {

inline std::shared_ptr<const Checkpoint> shapes_checkpoint() {
  static const auto checkpoint = std::make_shared<const Checkpoint>(
      Checkpoint::open(std::string(LOCKSTEP_SOURCE_DIR) + "/pipelines/data/shapes-gemma4"));
  return checkpoint;
}
inline std::shared_ptr<const Reference> native_reference(lockstep::DType dtype) {
  return make_native_reference(shapes_checkpoint(), dtype);
}
inline std::shared_ptr<const Runtime> native_runtime(lockstep::DType dtype, std::int64_t max_seq = 160,
                                                     Fault fault = Fault::none) {
  return make_static_runtime(
      shapes_checkpoint(),
      {.profile = find_profile("shapes_24x24_64"), .max_seq = max_seq, .dtype = dtype, .fault = fault});
}

/// The native runtime with a fault in what it returns.
class FaultyRuntime final : public Runtime {
 public:
  explicit FaultyRuntime(std::shared_ptr<const Runtime> good) : good_(std::move(good)) {}

  std::function<void(StaticBatch&)> damage_batch = [](StaticBatch&) {};
  std::function<lockstep::Tensor(const lockstep::Tensor&)> damage_embedding = [](const lockstep::Tensor& t) {
    return t;
  };
  std::function<lockstep::Tensor(const lockstep::Tensor&)> damage_visual = damage_embedding;
  std::function<lockstep::Tensor(const lockstep::Tensor&)> damage_fused = damage_embedding;
  /// Takes the place of the whole fixed-shape vision.
  std::function<lockstep::Tensor(const lockstep::Tensor& pixels, const lockstep::TensorVisitor& taps)> other_vision;
  bool has_eager_view = true;
  bool has_other_max_seq = true;

  const StaticLayout& layout() const override { return good_->layout(); }
  const VisionProfile& profile() const override { return good_->profile(); }
  lockstep::DType dtype() const override { return good_->dtype(); }
  StaticBatch build_static_inputs(const RawInputs& raw) const override {
    auto batch = good_->build_static_inputs(raw);
    damage_batch(batch);
    return batch;
  }
  lockstep::Tensor token_embedding(const lockstep::Tensor& input_ids) const override {
    return damage_embedding(good_->token_embedding(input_ids));
  }
  lockstep::Tensor vision_prefill(const lockstep::Tensor& pixel_values, const lockstep::Tensor& image_position_ids,
                                  const lockstep::TensorVisitor& taps) const override {
    if (other_vision) return other_vision(pixel_values, taps);
    return damage_visual(good_->vision_prefill(pixel_values, image_position_ids, taps));
  }
  std::optional<lockstep::Tensor> eager_image_features(const lockstep::Tensor& pixel_values,
                                                       const lockstep::Tensor& image_position_ids,
                                                       const lockstep::TensorVisitor& taps) const override {
    if (!has_eager_view) return std::nullopt;
    return good_->eager_image_features(pixel_values, image_position_ids, taps);
  }
  lockstep::Tensor fuse(const lockstep::Tensor& text_embeds, const lockstep::Tensor& visual_embeds) const override {
    return damage_fused(good_->fuse(text_embeds, visual_embeds));
  }
  double mask_fill() const override { return good_->mask_fill(); }
  AttentionMasks attention_masks(const lockstep::Tensor& attention_mask) const override {
    auto masks = good_->attention_masks(attention_mask);
    damage_masks(masks);
    return masks;
  }
  RopeTables rope(const lockstep::Tensor& position_ids) const override {
    auto tables = good_->rope(position_ids);
    damage_rope(tables);
    return tables;
  }
  std::unique_ptr<RuntimeSession> start() const override { return std::make_unique<Session>(good_->start(), *this); }
  std::unique_ptr<RuntimeSession> resume(const KvCache& snapshot) const override {
    auto damaged = snapshot;
    damage_resumed(damaged);
    return std::make_unique<Session>(good_->resume(damaged), *this);
  }
  /// With the same faults.
  std::shared_ptr<const Runtime> with_max_seq(std::int64_t max_seq) const override {
    if (!has_other_max_seq) return nullptr;
    auto other = std::make_shared<FaultyRuntime>(*this);
    other->good_ = good_->with_max_seq(max_seq);
    return other;
  }

  std::function<void(AttentionMasks&)> damage_masks = [](AttentionMasks&) {};
  std::function<void(RopeTables&)> damage_rope = [](RopeTables&) {};
  std::function<lockstep::Tensor(const lockstep::Tensor&)> damage_prefill = damage_embedding;
  /// What prefill shows of itself; an empty tensor is not shown.
  std::function<lockstep::Tensor(std::string_view name, const lockstep::Tensor&)> damage_inner =
      [](std::string_view, const lockstep::Tensor& t) { return t; };
  std::function<lockstep::Tensor(std::int64_t length, const lockstep::Tensor&)> damage_decode =
      [](std::int64_t, const lockstep::Tensor& t) { return t; };
  std::function<void(KvCache&)> damage_cache = [](KvCache&) {};
  /// The snapshot that decode goes on from; it may share its tensors.
  std::function<void(KvCache&)> damage_resumed = [](KvCache&) {};
  std::function<void(Generation&)> damage_generation = [](Generation&) {};

 private:
  class Session final : public RuntimeSession {
   public:
    Session(std::unique_ptr<RuntimeSession> good, const FaultyRuntime& faults)
        : good_(std::move(good)), faults_(faults) {}

    lockstep::Tensor prefill(const StaticBatch& batch, const lockstep::Tensor& fused_embeds,
                             const AttentionMasks& masks, const RopeTables& rope,
                             const lockstep::TensorVisitor& taps) override {
      const auto damaged = [&](std::string_view name, const lockstep::Tensor& tensor) {
        const auto shown = faults_.damage_inner(name, tensor);
        if (taps && shown.numel() > 0) taps(name, shown);
      };
      return faults_.damage_prefill(good_->prefill(batch, fused_embeds, masks, rope, damaged));
    }
    lockstep::Tensor decode(const lockstep::Tensor& input_ids, const lockstep::TensorVisitor& taps) override {
      const auto logits = good_->decode(input_ids, taps);
      return faults_.damage_decode(good_->length(), logits);
    }
    std::int64_t length() const override { return good_->length(); }
    KvCache snapshot() const override {
      auto cache = good_->snapshot();
      faults_.damage_cache(cache);
      return cache;
    }
    Generation generate(const lockstep::Tensor& logits, std::int64_t max_new_tokens,
                        const std::function<void(std::int64_t, const lockstep::Tensor&)>& each) override {
      auto generation = good_->generate(logits, max_new_tokens, each);
      faults_.damage_generation(generation);
      return generation;
    }

   private:
    std::unique_ptr<RuntimeSession> good_;
    const FaultyRuntime& faults_;
  };

  std::shared_ptr<const Runtime> good_;
};

}  // namespace gemma4::test
