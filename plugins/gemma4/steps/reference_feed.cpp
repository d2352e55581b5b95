#include "steps/reference_feed.hpp"

#include <algorithm>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/logical_or.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <lockstep/torch.hpp>

namespace gemma4 {
namespace {

using namespace lockstep;

/// The first entries of `values` along `axis`, then `fill` up to `slots`.
at::Tensor padded(const at::Tensor& values, std::int64_t axis, std::int64_t slots, double fill) {
  auto sizes = values.sizes().vec();
  sizes[static_cast<std::size_t>(axis)] = slots;
  auto result = at::full(sizes, fill, values.options());
  result.slice(axis, 0, values.size(axis)).copy_(values);
  return result;
}

StaticBatch padded_batch(const SpecialTokenIds& tokens, const StaticBatch& given, std::int64_t slots) {
  const auto prompt = to_torch(given.raw_input_ids);
  auto placeholder = at::zeros_like(prompt, at::kBool);
  for (const auto& id : {tokens.image, tokens.video, tokens.audio}) {
    if (id) placeholder = at::logical_or(placeholder, prompt.eq(*id));
  }
  const auto length = prompt.size(1);
  const auto positions = at::arange(slots).unsqueeze(0);
  const auto ids = prompt.masked_fill(placeholder, tokens.pad);
  auto batch = given;
  batch.input_ids = padded(ids, 1, slots, static_cast<double>(tokens.pad));
  batch.attention_mask = positions < length;
  batch.position_ids = positions;
  batch.valid_length = length;
  return batch;
}

/// T [1, known, H]
at::Tensor fused_embeds(const Reference& reference, const StaticBatch& batch, std::int64_t known) {
  const auto text = reference.token_embedding(to_torch(batch.input_ids).slice(1, 0, known).contiguous());
  const auto image = reference.checkpoint().config().tokens.image;
  if (!batch.pixel_values || !image) return to_torch(text);
  const auto features = reference.image_features(*batch.pixel_values, *batch.image_position_ids);
  const auto places = padded(to_torch(batch.raw_input_ids).eq(*image), 1, known, 0);
  return to_torch(reference.fuse(text, places, features));
}

}  // namespace

PromptFeed prompt_feed(const Reference& reference, const Runtime& runtime, const StaticBatch& given) {
  const auto slots = runtime.layout().max_seq;
  const auto known = std::min(reference.known_positions().value_or(slots), slots);
  PromptFeed feed{.batch = padded_batch(reference.checkpoint().config().tokens, given, slots),
                  .fused_embeds = {},
                  .masks = {},
                  .rope = {}};
  feed.fused_embeds = padded(fused_embeds(reference, feed.batch, known), 1, slots, 0);

  const auto first = [known](const Tensor& values) { return Tensor(to_torch(values).slice(1, 0, known).contiguous()); };
  const auto masks = reference.attention_masks(first(feed.batch.attention_mask));
  const auto mask_of = [&](const Tensor& mask) -> Tensor {
    if (mask.numel() == 0) return mask;
    const auto own = to_torch(mask);
    const auto filled = own.masked_fill(own.ne(0), runtime.mask_fill());
    return padded(padded(filled, 2, slots, runtime.mask_fill()), 3, slots, runtime.mask_fill());
  };
  feed.masks.sliding = mask_of(masks.sliding);
  feed.masks.full = mask_of(masks.full);

  const auto rope = reference.rope(first(feed.batch.position_ids));
  const auto table_of = [&](const Tensor& table) -> Tensor {
    return table.numel() == 0 ? table : Tensor(padded(to_torch(table), 1, slots, 0));
  };
  feed.rope.sliding = {table_of(rope.sliding.cos), table_of(rope.sliding.sin)};
  feed.rope.full = {table_of(rope.full.cos), table_of(rope.full.sin)};
  return feed;
}

KvCache static_cache_of(const KvCache& dynamic, std::int64_t slots) {
  KvCache cache{.length = dynamic.length, .layers = {}};
  const auto placed = [&](const Tensor& kept) -> Tensor {
    const auto rows = to_torch(kept);
    auto sizes = rows.sizes().vec();
    sizes[2] = slots;
    auto result = at::zeros(sizes, rows.options());
    result.slice(2, dynamic.length - rows.size(2), dynamic.length).copy_(rows);
    return result;
  };
  for (const auto& layer : dynamic.layers) {
    cache.layers.push_back({.index = layer.index, .key = placed(layer.key), .value = placed(layer.value)});
  }
  return cache;
}

}  // namespace gemma4
