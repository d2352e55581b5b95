#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "checkpoint/text_tensors.hpp"

namespace gemma4 {

/// Keys and values of one layer, [B, num_key_value_heads, positions, D].
struct KeyValue {
  at::Tensor key;
  at::Tensor value;
};

/// transformers' DynamicCache: full layers keep everything, sliding ones the last sliding_window - 1 positions. Only
/// layers with keys and values of their own use it.
class DynamicCache {
 public:
  explicit DynamicCache(const TextConfig& config);

  /// Adds the states of a pass. Returns all that the pass attends to: what was kept before, then `added`.
  [[nodiscard]] KeyValue update(std::int64_t layer, const KeyValue& added);
  /// Positions seen by the passes that are over.
  [[nodiscard]] std::int64_t length() const noexcept { return length_; }
  /// A pass over `positions` is over.
  void advance(std::int64_t positions) noexcept { length_ += positions; }
  [[nodiscard]] KvCache snapshot() const;
  /// Goes on from a snapshot of `batch` rows. Throws lockstep::Error that names the layer unless layers, shapes and
  /// dtype are those of snapshot().
  void restore(const KvCache& snapshot, std::int64_t batch, at::ScalarType dtype);

 private:
  const TextConfig& config_;
  std::vector<KeyValue> layers_;  // undefined before the first pass
  std::int64_t length_ = 0;
};

}  // namespace gemma4
