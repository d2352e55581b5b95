#include "runtime/recorded_runtime.hpp"

#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

#include "runtime/not_served.hpp"
#include "runtime/stages.hpp"

namespace gemma4 {
namespace {

using lockstep::DType;
using lockstep::Tensor;

class RecordedRuntime final : public Runtime {
 public:
  RecordedRuntime(RuntimeDump dump, const RecordedRuntimeOptions& options)
      : dump_(std::move(dump)),
        profile_(options.profile),
        layout_{.max_seq = options.max_seq,
                .visual_start_idx = options.profile.visual_start_idx,
                .num_visual_tokens = options.profile.num_visual_tokens,
                .batch_size = options.profile.batch_size},
        dtype_(options.dtype),
        required_(options.required) {
    layout_.validate();
    profile_.validate(layout_.max_seq);
  }

  const StaticLayout& layout() const override { return layout_; }
  const VisionProfile& profile() const override { return profile_; }
  DType dtype() const override { return dtype_; }

  StaticBatch build_static_inputs(const RawInputs& raw) const override {
    const auto part = [this](const std::string& name) { return served("build_static_inputs", "batch." + name); };
    StaticBatch batch{.input_ids = part("input_ids"),
                      .attention_mask = part("attention_mask"),
                      .position_ids = part("position_ids"),
                      .raw_input_ids = part("raw_input_ids")};
    batch.valid_length = batch.raw_input_ids.numel();
    if (raw.pixel_values) batch.pixel_values = part("pixel_values");
    if (raw.image_position_ids) batch.image_position_ids = part("image_position_ids");
    return batch;
  }

  Tensor token_embedding(const Tensor&) const override { return served("token_embedding", "text_embeds"); }

  Tensor vision_prefill(const Tensor&, const Tensor&, const lockstep::TensorVisitor& taps) const override {
    auto embeds = served("vision_prefill", "visual_embeds");
    dump_.show("vision_prefill", taps);
    return embeds;
  }

  std::optional<Tensor> eager_image_features(const Tensor&, const Tensor&) const override {
    return dump_.find("vision_prefill.eager_image_features");
  }

  Tensor fuse(const Tensor&, const Tensor&) const override { return served("mm_fusion", "fused_embeds"); }

 private:
  [[nodiscard]] Tensor served(std::string_view stage, std::string_view output) const {
    const auto name = fmt::format("{}.{}", stage, output);
    if (auto found = dump_.find(name)) return *found;
    const auto near = dump_.nearest(name);
    throw NotServed(fmt::format("{}: the dump has no {}", dump_.folder().string(), name),
                    fmt::format("dump it{}, or name in the runtime's require only the stages that it has",
                                near.empty() ? "" : fmt::format(" (the nearest name there is {})", near)),
                    required_.contains(stage));
  }

  RuntimeDump dump_;
  VisionProfile profile_;
  StaticLayout layout_;
  DType dtype_;
  std::set<std::string, std::less<>> required_;
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

std::shared_ptr<const Runtime> make_recorded_runtime(RuntimeDump dump, const RecordedRuntimeOptions& options) {
  return std::make_shared<RecordedRuntime>(std::move(dump), options);
}

}  // namespace gemma4
