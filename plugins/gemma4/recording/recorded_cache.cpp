#include "recording/recorded_cache.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

#include "recording/recorded_values.hpp"

namespace gemma4 {
namespace {

using lockstep::Error;
using lockstep::Tensor;

/// A recorded [B, kv heads, n, D] that holds the positions from `first` on.
struct Positions {
  Tensor tensor;
  std::int64_t first = 0;

  Positions(Tensor recorded, std::int64_t end) : tensor(std::move(recorded)), first(end - tensor.size(2)) {}
  [[nodiscard]] bool has(std::int64_t position) const { return position >= first && position < first + tensor.size(2); }
  [[nodiscard]] const std::byte* at(std::int64_t head, std::int64_t position, std::size_t bytes) const {
    return tensor.data() + static_cast<std::size_t>(head * tensor.size(2) + position - first) * bytes;
  }
};

Tensor positions_of(const Recording& recording, const std::string& part, std::int64_t length, std::int64_t first,
                    std::int64_t end) {
  std::vector<Positions> sources{{recorded_values(recording, "cache." + part), length}};
  if (end > length) {
    sources.emplace_back(recorded_values(recording, "cache_final." + part), length + recording.steps());
  }
  const auto& form = sources.front().tensor;
  const auto bytes = static_cast<std::size_t>(form.size(3)) * lockstep::element_size(form.dtype());
  std::vector<std::byte> gathered;
  for (std::int64_t head = 0; head < form.size(0) * form.size(1); ++head) {
    for (auto position = first; position < end; ++position) {
      const auto source = std::ranges::find_if(sources, [&](const Positions& p) { return p.has(position); });
      if (source == sources.end()) {
        throw Error{fmt::format("{}: neither cache.{} nor cache_final.{} has position {} any more",
                                recording.folder().string(), part, part, position),
                    "decode fewer steps, or record with as many --steps as are decoded"};
      }
      const auto* row = source->at(head, position, bytes);
      gathered.insert(gathered.end(), row, row + bytes);
    }
  }
  return Tensor::copy_of(gathered, form.dtype(), {form.size(0), form.size(1), end - first, form.size(3)});
}

}  // namespace

KvCache recorded_cache(const Recording& recording, const TextConfig& config, std::int64_t length, std::int64_t step) {
  const auto end = length + step;
  KvCache cache{.length = end, .layers = {}};
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    const auto& layer = config.layers[i];
    if (layer.shares_kv) continue;
    const bool sliding = layer.type == LayerType::sliding_attention;
    const auto first = sliding ? std::max<std::int64_t>(0, end - (config.sliding_window - 1)) : 0;
    const auto part = [&](char kind) {
      return positions_of(recording, fmt::format("L{}.{}", i, kind), length, first, end);
    };
    cache.layers.push_back({static_cast<std::int64_t>(i), part('k'), part('v')});
  }
  return cache;
}

}  // namespace gemma4
