#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/port.hpp>
#include <lockstep/tensor.hpp>

#include "checkpoint/config.hpp"

// What stages of the text model hand on, whoever computed it: plain values without arithmetic. B batch, Q positions of
// the pass, K positions that can be attended to, D head dimension.

namespace gemma4 {

/// One value for each layer type. The value of a type that no layer has is empty.
template <class T>
struct PerLayerType {
  T sliding;
  T full;

  [[nodiscard]] const T& operator[](LayerType type) const { return type == LayerType::full_attention ? full : sliding; }
  [[nodiscard]] T& operator[](LayerType type) { return type == LayerType::full_attention ? full : sliding; }
};

/// Added to the scores before the softmax: 0 where a position may attend, a large negative fill elsewhere. [B, 1, Q, K]
struct AttentionMasks : PerLayerType<lockstep::Tensor> {};

/// The rotary tables of one layer type. [1, Q, D], or [B, Q, D] where rows have positions of their own
struct RopeTable {
  lockstep::Tensor cos;
  lockstep::Tensor sin;
};
struct RopeTables : PerLayerType<RopeTable> {};

/// A snapshot of a key-value cache: what a session that goes on from here starts with.
struct KvCache {
  /// Of one layer with keys and values of its own: after norm and rope, [B, num_key_value_heads, slots, D].
  struct Layer {
    std::int64_t index;
    lockstep::Tensor key;
    lockstep::Tensor value;
  };
  /// Positions seen. The first `length` slots of a static cache are valid; a dynamic one of a sliding layer keeps the
  /// last of them only, and has no slots but those.
  std::int64_t length = 0;
  std::vector<Layer> layers;
};

/// Greedy generation. `stop` says why it ended: "eos" (its id is the last token), "length" (max_new_tokens) or
/// "cache_full" (a static cache has no slot left).
struct Generation {
  std::vector<std::int64_t> tokens;
  std::string stop;
};

inline void visit_tensors(const AttentionMasks& masks, const lockstep::TensorVisitor& visit) {
  if (masks.sliding.numel() > 0) visit("mask.sliding", masks.sliding);
  if (masks.full.numel() > 0) visit("mask.full", masks.full);
}

inline void visit_tensors(const RopeTables& rope, const lockstep::TensorVisitor& visit) {
  const auto visit_table = [&visit](const std::string& name, const RopeTable& table) {
    if (table.cos.numel() > 0) visit(name + ".cos", table.cos);
    if (table.sin.numel() > 0) visit(name + ".sin", table.sin);
  };
  visit_table("rope.sliding", rope.sliding);
  visit_table("rope.full", rope.full);
}

inline void visit_tensors(const KvCache& cache, const lockstep::TensorVisitor& visit) {
  for (const auto& layer : cache.layers) {
    const auto stem = "cache.L" + std::to_string(layer.index);
    visit(stem + ".k", layer.key);
    visit(stem + ".v", layer.value);
  }
}

}  // namespace gemma4

LOCKSTEP_PORT_TYPE(gemma4::AttentionMasks, "gemma4.attention_masks/1");
LOCKSTEP_PORT_TYPE(gemma4::RopeTables, "gemma4.rope_tables/1");
LOCKSTEP_PORT_TYPE(gemma4::KvCache, "gemma4.kv_cache/1");

// How they cross to the process of an isolated step. A tensor that is left out is an empty one.

template <>
struct lockstep::PortTransfer<gemma4::AttentionMasks> {
  static lockstep::NamedTensors to_tensors(const gemma4::AttentionMasks& masks) {
    return lockstep::NamedTensors({{"sliding", masks.sliding}, {"full", masks.full}});
  }
  static gemma4::AttentionMasks from_tensors(const lockstep::NamedTensors& tensors) {
    return {{tensors.at("sliding"), tensors.at("full")}};
  }
};

template <>
struct lockstep::PortTransfer<gemma4::RopeTables> {
  static lockstep::NamedTensors to_tensors(const gemma4::RopeTables& rope) {
    return lockstep::NamedTensors({{"sliding.cos", rope.sliding.cos},
                                   {"sliding.sin", rope.sliding.sin},
                                   {"full.cos", rope.full.cos},
                                   {"full.sin", rope.full.sin}});
  }
  static gemma4::RopeTables from_tensors(const lockstep::NamedTensors& tensors) {
    return {{{tensors.at("sliding.cos"), tensors.at("sliding.sin")}, {tensors.at("full.cos"), tensors.at("full.sin")}}};
  }
};

/// `length` and the layers' indices as one tensor of integers.
template <>
struct lockstep::PortTransfer<gemma4::KvCache> {
  static lockstep::NamedTensors to_tensors(const gemma4::KvCache& cache) {
    std::vector<std::int64_t> numbers{cache.length};
    lockstep::NamedTensors tensors;
    for (const auto& layer : cache.layers) {
      numbers.push_back(layer.index);
      tensors.add("key." + std::to_string(layer.index), layer.key);
      tensors.add("value." + std::to_string(layer.index), layer.value);
    }
    const auto count = static_cast<std::int64_t>(numbers.size());
    tensors.add("numbers", Tensor::copy_of(std::span<const std::int64_t>(numbers), {count}));
    return tensors;
  }
  static gemma4::KvCache from_tensors(const lockstep::NamedTensors& tensors) {
    const auto numbers = tensors.at("numbers").values<std::int64_t>();
    gemma4::KvCache cache{.length = numbers.front(), .layers = {}};
    for (const auto index : numbers.subspan(1))
      cache.layers.push_back(
          {index, tensors.at("key." + std::to_string(index)), tensors.at("value." + std::to_string(index))});
    return cache;
  }
};
