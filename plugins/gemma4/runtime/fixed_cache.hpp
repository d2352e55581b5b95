#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include <lockstep/export.hpp>

#include "checkpoint/text_tensors.hpp"

namespace gemma4 {

/// Keys and values of one layer after norm and rope, T [kv heads, n, D].
struct KeyValue {
  at::Tensor key, value;
};

/// The mutable key-value cache of one session: allocated once, never grown. Each producer layer has a buffer of max_seq
/// slots; max_seq - 1 are the cache, the last one holds the token that is being decoded, so that attention always sees
/// one buffer of one shape. Slots that were never written are zero. KV-sharing layers have none.
class LOCKSTEP_API FixedCache {
 public:
  FixedCache(const TextConfig& config, std::int64_t max_seq, at::ScalarType dtype);

  /// max_seq - 1
  [[nodiscard]] std::int64_t capacity() const { return max_seq_ - 1; }

  /// The first `length` rows of `rows` become the first slots of layer's cache; what follows them stays out.
  void fill(std::size_t layer, const KeyValue& rows, std::int64_t length);
  /// The whole buffer, [kv heads, max_seq, D], with `current` ([kv heads, 1, D]) in its last slot. Not a copy.
  [[nodiscard]] KeyValue with_current(std::size_t layer, const KeyValue& current);
  /// The current token's keys and values of every producer go to `slot`.
  void store_current(std::int64_t slot);

  /// Copies, [1, kv heads, max_seq - 1, D] for each producer.
  [[nodiscard]] KvCache snapshot(std::int64_t length) const;
  /// Takes the first snapshot.length slots over; the others are not read. Throws lockstep::Error that names the layer
  /// unless the layers, shapes and dtype are those of snapshot() and 1 <= length <= capacity().
  void restore(const KvCache& snapshot);

 private:
  struct Buffer {
    std::size_t layer;
    at::Tensor key, value;  // T [kv heads, max_seq, D]
  };
  [[nodiscard]] const Buffer& buffer_of(std::size_t layer) const;

  std::int64_t max_seq_;
  std::vector<Buffer> buffers_;
};

}  // namespace gemma4
