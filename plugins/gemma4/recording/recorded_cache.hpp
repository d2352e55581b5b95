#pragma once

#include <cstdint>

#include "checkpoint/config.hpp"
#include "checkpoint/text_tensors.hpp"
#include "recording/recording.hpp"

namespace gemma4 {

/// What transformers' cache held after the prompt of `length` tokens and `step` recorded decode steps.
///
/// The recording has it after the prompt ("cache.…") and after the last step ("cache_final.…"). A position's key and
/// value never change, so the cache between the two is made of both: all positions, of a sliding layer the last
/// sliding_window - 1. Throws lockstep::Error that names tensor and position if neither has one any more.
[[nodiscard]] KvCache recorded_cache(const Recording& recording, const TextConfig& config, std::int64_t length,
                                     std::int64_t step);

}  // namespace gemma4
