#include "reference/dynamic_cache.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <lockstep/torch.hpp>

namespace gemma4 {

DynamicCache::DynamicCache(const TextConfig& config) : config_(config), layers_(config.layers.size()) {}

KeyValue DynamicCache::update(std::int64_t layer, const KeyValue& added) {
  auto& kept = layers_.at(static_cast<std::size_t>(layer));
  // An empty 1-d tensor to begin with, as in transformers: the result is a dense copy in the first pass too.
  const auto joined = [](const at::Tensor& past, const at::Tensor& present) {
    return at::cat({past.defined() ? past : at::empty({0}, present.options()), present}, -2);
  };
  const KeyValue all{joined(kept.key, added.key), joined(kept.value, added.value)};
  kept = all;
  if (config_.layers[static_cast<std::size_t>(layer)].type == LayerType::sliding_attention) {
    const auto first = std::max<std::int64_t>(all.key.size(-2) - (config_.sliding_window - 1), 0);
    kept = {all.key.slice(-2, first), all.value.slice(-2, first)};
  }
  return all;
}

KvCache DynamicCache::snapshot() const {
  KvCache cache{.length = length_, .layers = {}};
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const auto& [key, value] = layers_[i];
    if (key.defined()) cache.layers.push_back({static_cast<std::int64_t>(i), key, value});
  }
  return cache;
}

}  // namespace gemma4
