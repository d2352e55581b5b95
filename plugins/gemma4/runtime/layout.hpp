#pragma once

#include <cstdint>

#include <lockstep/export.hpp>

namespace gemma4 {

/// Where the slots of a static prompt lie: `max_seq` slots, the picture's tokens in one fixed run of them.
struct StaticLayout {
  std::int64_t max_seq = 0;
  std::int64_t visual_start_idx = 0;   ///< first slot of the picture
  std::int64_t num_visual_tokens = 0;  ///< 0: the layout has no picture
  std::int64_t batch_size = 1;

  /// Throws lockstep::Error naming the setting unless batch_size is 1, max_seq is positive, start and count are not
  /// negative, and the picture ends within max_seq (ending exactly there is allowed).
  LOCKSTEP_API void validate() const;

  friend bool operator==(const StaticLayout&, const StaticLayout&) = default;
};

}  // namespace gemma4
