#pragma once

#include <string>

#include <lockstep/step.hpp>

#include "checkpoint/text_tensors.hpp"

namespace gemma4 {

/// What a cache holds in the slots of the positions that another keeps.
struct KeptPositions {
  lockstep::Tensor key;
  lockstep::Tensor value;
  std::string missing;  ///< why there is nothing; empty if there is
};
/// `expected` keeps the last positions; `actual` holds position p in slot p.
[[nodiscard]] KeptPositions kept_positions(const KvCache::Layer& expected, const KvCache& actual);

/// The checks of a step that compares a runtime's cache with the reference's. Members of the step declare themselves.
class CacheChecks {
 public:
  explicit CacheChecks(lockstep::Step& step);

  /// `expected` holds what transformers keeps, of sliding layers the last positions only; `actual` holds position p in
  /// slot p. One entry for each layer of `expected`; `subject` ("step 3") is put before "layer 4". True if all passed.
  bool compare(const KvCache& expected, const KvCache& actual, const std::string& subject = {});

 private:
  bool compare_layer(const KvCache::Layer& expected, const KvCache& actual, const std::string& subject);

  lockstep::Check length_;
  lockstep::Check keys_;
  lockstep::Check values_;
};

}  // namespace gemma4
