#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "checkpoint/config.hpp"

namespace gemma4 {

/// "sliding" or "full": the names that recordings use.
[[nodiscard]] inline std::string name_of(LayerType type) {
  return type == LayerType::full_attention ? "full" : "sliding";
}

/// The types that layers of this model have.
[[nodiscard]] inline std::vector<LayerType> layer_types(const TextConfig& config) {
  std::vector<LayerType> types;
  for (const auto type : {LayerType::sliding_attention, LayerType::full_attention}) {
    if (std::ranges::any_of(config.layers, [type](const TextLayerConfig& layer) { return layer.type == type; })) {
      types.push_back(type);
    }
  }
  return types;
}

}  // namespace gemma4
