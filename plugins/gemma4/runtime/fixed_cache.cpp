#include "runtime/fixed_cache.hpp"

#include <algorithm>

#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/torch.hpp>

#include "runtime/fixed_shape.hpp"

namespace gemma4 {

using lockstep::Error;

FixedCache::FixedCache(const TextConfig& config, std::int64_t max_seq, at::ScalarType dtype) : max_seq_(max_seq) {
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    if (config.layers[i].shares_kv) continue;
    const auto buffer = [&] {
      return at::zeros({config.num_key_value_heads, max_seq, config.layers[i].head_dim}, at::dtype(dtype));
    };
    buffers_.push_back({.layer = i, .key = buffer(), .value = buffer()});
  }
}

const FixedCache::Buffer& FixedCache::buffer_of(std::size_t layer) const {
  const auto found = std::ranges::find(buffers_, layer, &Buffer::layer);
  if (found == buffers_.end()) throw Error{fmt::format("layer {} has no keys and values of its own", layer)};
  return *found;
}

void FixedCache::fill(std::size_t layer, const KeyValue& rows, std::int64_t length) {
  const auto& buffer = buffer_of(layer);
  buffer.key.slice(1, 0, length).copy_(rows.key.slice(1, 0, length));
  buffer.value.slice(1, 0, length).copy_(rows.value.slice(1, 0, length));
}

KeyValue FixedCache::with_current(std::size_t layer, const KeyValue& current) {
  const auto& buffer = buffer_of(layer);
  buffer.key.slice(1, max_seq_ - 1).copy_(current.key);
  buffer.value.slice(1, max_seq_ - 1).copy_(current.value);
  return {.key = buffer.key, .value = buffer.value};
}

void FixedCache::store_current(std::int64_t slot) {
  for (const auto& buffer : buffers_) {
    for (const auto& rows : {buffer.key, buffer.value}) rows.select(1, slot).copy_(rows.select(1, max_seq_ - 1));
  }
}

KvCache FixedCache::snapshot(std::int64_t length) const {
  KvCache result{.length = length, .layers = {}};
  for (const auto& buffer : buffers_) {
    const auto copy = [&](const at::Tensor& rows) {
      return lockstep::Tensor(rows.slice(1, 0, capacity()).unsqueeze(0).clone(at::MemoryFormat::Contiguous));
    };
    result.layers.push_back(
        {.index = static_cast<std::int64_t>(buffer.layer), .key = copy(buffer.key), .value = copy(buffer.value)});
  }
  return result;
}

void FixedCache::restore(const KvCache& snapshot) {
  if (snapshot.length < 1 || snapshot.length > capacity()) {
    throw Error{fmt::format("the snapshot holds {} positions, a cache of max_seq {} has 1 to {}", snapshot.length,
                            max_seq_, capacity()),
                "take the snapshot from a prefill of this runtime"};
  }
  if (snapshot.layers.size() != buffers_.size()) {
    throw Error{fmt::format("the snapshot has {} layers, the runtime has {} with keys and values of their own",
                            snapshot.layers.size(), buffers_.size()),
                "take the snapshot from a runtime of this checkpoint"};
  }
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const auto& buffer = buffers_[i];
    const auto& layer = snapshot.layers[i];
    if (layer.index != static_cast<std::int64_t>(buffer.layer)) {
      throw Error{fmt::format("the snapshot has layer {} where the runtime has layer {}", layer.index, buffer.layer),
                  "take the snapshot from a runtime of this checkpoint"};
    }
    const auto take = [&](const at::Tensor& rows, const lockstep::Tensor& given, const char* what) {
      const auto name = fmt::format("{} of layer {}", what, buffer.layer);
      const auto tensor = lockstep::to_torch(given);
      if (tensor.scalar_type() != rows.scalar_type()) {
        throw Error{fmt::format("{} is {}, the runtime computes in {}", name, lockstep::name_of(given.dtype()),
                                lockstep::name_of(lockstep::from_torch(rows.scalar_type()))),
                    "take the snapshot from a runtime of this dtype"};
      }
      ensure_static_shape(tensor, {1, rows.size(0), capacity(), rows.size(2)}, name);
      rows.slice(1, 0, snapshot.length).copy_(tensor[0].slice(1, 0, snapshot.length));
    };
    take(buffer.key, layer.key, "key");
    take(buffer.value, layer.value, "value");
  }
}

}  // namespace gemma4
