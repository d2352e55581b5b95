#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/TensorOperators.h>

#include "checkpoint/text_tensors.hpp"
#include "gemma4/steps/vision_steps.hpp"

namespace gemma4::test {

using Names = std::vector<std::string>;

/// "Describe the image." with its picture, before the text layers.
struct TextStage {
  std::shared_ptr<const Runtime> runtime;
  StaticBatch batch;
  lockstep::Tensor fused_embeds;
  AttentionMasks masks;
  RopeTables rope;
};
inline TextStage before_prefill(const std::shared_ptr<const Runtime>& runtime) {
  auto batch = batch_with_picture(*runtime);
  const auto text = runtime->token_embedding(batch.input_ids);
  const auto visual = runtime->vision_prefill(*batch.pixel_values, *batch.image_position_ids);
  return {.runtime = runtime,
          .batch = batch,
          .fused_embeds = runtime->fuse(text, visual),
          .masks = runtime->attention_masks(batch.attention_mask),
          .rope = runtime->rope(batch.position_ids)};
}
/// What prefill hands on.
struct AfterPrefill {
  StaticBatch batch;
  lockstep::Tensor logits;
  KvCache cache;
};
inline AfterPrefill after_prefill(const std::shared_ptr<const Runtime>& runtime) {
  const auto stage = before_prefill(runtime);
  const auto session = runtime->start();
  auto logits = session->prefill(stage.batch, stage.fused_embeds, stage.masks, stage.rope);
  return {.batch = stage.batch, .logits = std::move(logits), .cache = session->snapshot()};
}
inline std::shared_ptr<FaultyRuntime> faulty_runtime(lockstep::DType dtype, std::int64_t max_seq = 160) {
  return std::make_shared<FaultyRuntime>(native_runtime(dtype, max_seq));
}
/// Lists that may stand in a macro.
template <class... Text>
Names names(const Text&... text) {
  return {text...};
}
template <class... Size>
std::vector<std::int64_t> shape(Size... size) {
  return {size...};
}
/// A changed copy.
inline lockstep::Tensor changed(const lockstep::Tensor& tensor, const std::function<void(at::Tensor&)>& change) {
  auto values = lockstep::to_torch(tensor).clone();
  change(values);
  return lockstep::Tensor(values);
}
/// Names of the checks with this verdict, each once.
inline Names distinct(Names names) {
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace gemma4::test
