#pragma once

#include <cstdint>
#include <optional>

#include <ATen/core/Tensor.h>

#include <lockstep/export.hpp>

// Additive masks of fixed shapes: 0 where a query may attend to a key, a finite fill elsewhere. Finite, because a row
// of padding may have no key at all: minus infinity would make it NaN, and NaN times 0 reaches the rows that count.

namespace gemma4 {

/// Of a prompt in the first `valid_length` of `max_seq` slots: query q sees the keys up to q that are valid, and of
/// those the last `window` only, if there is a window. Rows of padding follow the same rule. [max_seq, max_seq]
[[nodiscard]] LOCKSTEP_API at::Tensor prefill_mask(std::int64_t max_seq, std::int64_t valid_length,
                                                   std::optional<std::int64_t> window, double fill,
                                                   at::ScalarType dtype);

/// Of one token: the keys are the max_seq - 1 slots of the cache, then the token itself, which always sees itself.
/// `past_length` slots are valid; with a window it sees the last window - 1 of them. [1, max_seq]
/// Throws lockstep::Error unless 0 <= past_length < max_seq.
[[nodiscard]] LOCKSTEP_API at::Tensor decode_mask(std::int64_t max_seq, std::int64_t past_length,
                                                  std::optional<std::int64_t> window, double fill,
                                                  at::ScalarType dtype);

}  // namespace gemma4
