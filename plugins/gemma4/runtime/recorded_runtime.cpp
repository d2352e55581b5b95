#include "runtime/recorded_runtime.hpp"

#include <map>
#include <optional>
#include <utility>

#include "runtime/dumped_session.hpp"
#include "runtime/dumped_stages.hpp"

namespace gemma4 {
namespace {

using lockstep::DType;
using lockstep::Tensor;

class RecordedRuntime final : public Runtime {
 public:
  RecordedRuntime(RuntimeDump dump, const RecordedRuntimeOptions& options)
      : stages_(std::make_shared<const DumpedStages>(std::move(dump), options.required)),
        profile_(options.profile),
        layout_(options.profile.layout(options.max_seq)),
        dtype_(options.dtype),
        mask_fill_(options.mask_fill),
        layer_types_(options.layer_types),
        model_{.cache_layers = options.cache_layers, .eos_token_ids = options.eos_token_ids} {
    layout_.validate();
    profile_.validate(layout_.max_seq);
  }

  const StaticLayout& layout() const override { return layout_; }
  const VisionProfile& profile() const override { return profile_; }
  DType dtype() const override { return dtype_; }

  StaticBatch build_static_inputs(const RawInputs& raw) const override {
    const auto part = [this](const std::string& name) { return stages_->at("build_static_inputs", "batch." + name); };
    StaticBatch batch{.input_ids = part("input_ids"),
                      .attention_mask = part("attention_mask"),
                      .position_ids = part("position_ids"),
                      .raw_input_ids = part("raw_input_ids")};
    batch.valid_length = batch.raw_input_ids.numel();
    if (raw.pixel_values) batch.pixel_values = part("pixel_values");
    if (raw.image_position_ids) batch.image_position_ids = part("image_position_ids");
    return batch;
  }

  Tensor token_embedding(const Tensor&) const override { return stages_->at("token_embedding", "text_embeds"); }

  Tensor vision_prefill(const Tensor&, const Tensor&, const lockstep::TensorVisitor& taps) const override {
    auto embeds = stages_->at("vision_prefill", "visual_embeds");
    stages_->dump().show("vision_prefill", taps);
    return embeds;
  }

  std::optional<Tensor> eager_image_features(const Tensor&, const Tensor&,
                                             const lockstep::TensorVisitor&) const override {
    return stages_->dump().find("vision_prefill.eager_image_features");
  }

  Tensor fuse(const Tensor&, const Tensor&) const override { return stages_->at("mm_fusion", "fused_embeds"); }

  double mask_fill() const override { return mask_fill_; }

  AttentionMasks attention_masks(const Tensor&) const override {
    AttentionMasks masks;
    masks.sliding = table("masks.mask.sliding", LayerType::sliding_attention);
    masks.full = table("masks.mask.full", LayerType::full_attention);
    return masks;
  }

  RopeTables rope(const Tensor&) const override {
    RopeTables tables;
    tables.sliding = {table("rope.rope.sliding.cos", LayerType::sliding_attention),
                      table("rope.rope.sliding.sin", LayerType::sliding_attention)};
    tables.full = {table("rope.rope.full.cos", LayerType::full_attention),
                   table("rope.rope.full.sin", LayerType::full_attention)};
    return tables;
  }

  std::unique_ptr<RuntimeSession> start() const override { return make_dumped_session(stages_, model_, nullptr); }
  std::unique_ptr<RuntimeSession> resume(const KvCache& snapshot) const override {
    return make_dumped_session(stages_, model_, &snapshot);
  }

 private:
  /// Of a type that no layer has: nothing.
  [[nodiscard]] Tensor table(std::string_view output, LayerType type) const {
    return layer_types_.contains(type) ? stages_->at("masks_and_rope", output) : Tensor();
  }

  std::shared_ptr<const DumpedStages> stages_;
  VisionProfile profile_;
  StaticLayout layout_;
  DType dtype_;
  double mask_fill_;
  std::set<LayerType> layer_types_;
  DumpedModel model_;
};

}  // namespace

std::set<std::string, std::less<>> with_earlier_stages(const std::vector<std::string>& stages) {
  static const std::map<std::string, std::vector<std::string>, std::less<>> reads{
      {"mm_fusion", {"token_embedding", "vision_prefill"}},
      {"prefill", {"mm_fusion", "masks_and_rope"}},
      {"decode", {"prefill"}},
      {"generation", {"prefill"}}};
  std::set<std::string, std::less<>> all;
  auto open = stages;
  while (!open.empty()) {
    const auto stage = open.back();
    open.pop_back();
    if (!all.insert(stage).second) continue;
    if (const auto earlier = reads.find(stage); earlier != reads.end()) {
      open.insert(open.end(), earlier->second.begin(), earlier->second.end());
    }
  }
  return all;
}

RecordedRuntimeOptions recorded_runtime_options(const Checkpoint& checkpoint) {
  RecordedRuntimeOptions options;
  options.dtype = checkpoint.config().dtype;
  options.eos_token_ids = checkpoint.generation().eos_token_ids;
  const auto& layers = checkpoint.config().text.layers;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    options.layer_types.insert(layers[layer].type);
    if (!layers[layer].shares_kv) options.cache_layers.push_back(static_cast<std::int64_t>(layer));
  }
  return options;
}

std::shared_ptr<const Runtime> make_recorded_runtime(RuntimeDump dump, const RecordedRuntimeOptions& options) {
  return std::make_shared<RecordedRuntime>(std::move(dump), options);
}

}  // namespace gemma4
