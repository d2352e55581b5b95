#include "reference/dynamic_cache.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <fmt/format.h>

#include <algorithm>
#include <lockstep/diagnostic.hpp>
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

void DynamicCache::restore(const KvCache& snapshot, std::int64_t batch, at::ScalarType dtype) {
  const auto refuse = [](const std::string& found) {
    throw lockstep::Error{found, "resume what Reference::prompt of this reference made"};
  };
  std::size_t taken = 0;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const auto& layer = config_.layers[i];
    if (layer.shares_kv) continue;
    if (taken == snapshot.layers.size() || snapshot.layers[taken].index != static_cast<std::int64_t>(i)) {
      refuse(fmt::format("the prompt's cache has nothing for layer {}", i));
    }
    const auto& given = snapshot.layers[taken++];
    const bool slides = layer.type == LayerType::sliding_attention;
    const auto kept = slides ? std::min(snapshot.length, config_.sliding_window - 1) : snapshot.length;
    const std::vector<std::int64_t> sizes{batch, config_.num_key_value_heads, kept, layer.head_dim};
    for (const auto* tensor : {&given.key, &given.value}) {
      if (tensor->sizes() == sizes && lockstep::to_torch(tensor->dtype()) == dtype) continue;
      refuse(fmt::format("the prompt's cache has {} for layer {}, expected {} {}", tensor->to_string(), i,
                         lockstep::name_of(lockstep::from_torch(dtype)), lockstep::shape_text(sizes)));
    }
    layers_[i] = {lockstep::to_torch(given.key), lockstep::to_torch(given.value)};
  }
  if (taken != snapshot.layers.size()) {
    refuse(fmt::format("the prompt's cache has {} layers, the model {} with keys and values of their own",
                       snapshot.layers.size(), taken));
  }
  length_ = snapshot.length;
}

}  // namespace gemma4
