#include "steps/runtime_passes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <ATen/TensorOperators.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/torch.hpp>

namespace gemma4 {
namespace {

using lockstep::Tensor;

Tensor row_of(std::span<const std::int64_t> ids) { return Tensor::copy_of(ids, {1, std::ssize(ids)}); }

// Without a mask the pad id within a prompt would count as padding.
Tensor all_valid(std::int64_t count) { return row_of(std::vector<std::int64_t>(static_cast<std::size_t>(count), 1)); }

}  // namespace

PreparedPrompt prepare(const Runtime& runtime, const StaticBatch& batch) {
  auto embeds = runtime.token_embedding(batch.input_ids);
  if (batch.pixel_values && batch.image_position_ids) {
    embeds = runtime.fuse(embeds, runtime.vision_prefill(*batch.pixel_values, *batch.image_position_ids));
  }
  return {.batch = batch,
          .fused_embeds = std::move(embeds),
          .masks = runtime.attention_masks(batch.attention_mask),
          .rope = runtime.rope(batch.position_ids)};
}

PreparedPrompt with_other_padding(const Runtime& runtime, const StaticBatch& batch, std::span<const std::int64_t> ids) {
  auto changed = batch;
  const auto slots = lockstep::to_torch(batch.input_ids).clone();
  for (auto slot = batch.valid_length; slot < slots.size(1); ++slot) {
    slots[0][slot] = ids[static_cast<std::size_t>(slot - batch.valid_length) % ids.size()];
  }
  changed.input_ids = slots;
  return prepare(runtime, changed);
}

PreparedPrompt with_padding_embeds(const PreparedPrompt& prompt, double value) {
  auto changed = prompt;
  const auto embeds = lockstep::to_torch(prompt.fused_embeds).clone();
  embeds.slice(1, prompt.batch.valid_length).fill_(value);
  embeds.slice(1, prompt.batch.valid_length + 1, embeds.size(1), 2).fill_(-value);
  changed.fused_embeds = embeds;
  return changed;
}

std::vector<std::int64_t> repeated_text(const StaticBatch& batch, const std::optional<std::int64_t>& image_id,
                                        std::int64_t first, std::int64_t count) {
  const auto prompt = batch.raw_input_ids.contiguous();
  std::vector<std::int64_t> words;
  std::ranges::copy_if(prompt.values<std::int64_t>(), std::back_inserter(words),
                       [image_id](std::int64_t id) { return id != image_id; });
  if (words.empty()) throw lockstep::Error{"the prompt has no text, which prompts of other lengths repeat"};
  std::vector<std::int64_t> ids;
  for (auto i = first; i < first + count; ++i) ids.push_back(words[static_cast<std::size_t>(i) % words.size()]);
  return ids;
}

RawInputs raw_text(std::span<const std::int64_t> ids) {
  return {.input_ids = row_of(ids), .attention_mask = all_valid(std::ssize(ids))};
}

PreparedPrompt prepare_again(const Runtime& other, const StaticBatch& batch) {
  return prepare(other, other.build_static_inputs({.input_ids = batch.raw_input_ids,
                                                   .attention_mask = all_valid(batch.valid_length),
                                                   .pixel_values = batch.pixel_values,
                                                   .image_position_ids = batch.image_position_ids}));
}

Pass prefilled(const Runtime& runtime, const PreparedPrompt& prompt) {
  auto session = runtime.start();
  auto logits = session->prefill(prompt.batch, prompt.fused_embeds, prompt.masks, prompt.rope);
  return {.session = std::move(session), .logits = std::move(logits)};
}

void decode_all(Pass& pass, std::span<const std::int64_t> ids) {
  for (const auto& id : ids) pass.logits = pass.session->decode(row_of({&id, 1}));
}

KvCache with_unused_slots(const KvCache& cache, double value) {
  auto changed = cache;
  for (auto& layer : changed.layers) {
    for (auto* slots : {&layer.key, &layer.value}) {
      const auto values = lockstep::to_torch(*slots).clone();
      values.slice(2, cache.length).fill_(value);
      *slots = values;
    }
  }
  return changed;
}

}  // namespace gemma4
