#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <lockstep/tensor.hpp>

#include "runtime/static_batch.hpp"

// A second way to the slots of a static prompt: each slot from its number, sharing nothing with the runtime.

namespace gemma4 {

/// int64 [1, n]
[[nodiscard]] lockstep::Tensor row_of_ids(std::span<const std::int64_t> ids);
/// bool [1, n], all true
[[nodiscard]] lockstep::Tensor row_of_true(std::int64_t length);

/// The batch of a prompt, without a picture's tensors: `ids` in front, `pad` for `image` ids and behind the prompt.
[[nodiscard]] StaticBatch batch_of_slots(std::span<const std::int64_t> ids, std::optional<std::int64_t> image,
                                         std::int64_t pad, std::int64_t max_seq);

/// What is wrong behind the prompt's `length` tokens, where int64 [1, max_seq] `input_ids` should hold `pad`; or "".
[[nodiscard]] std::string padding_fault(const lockstep::Tensor& input_ids, std::int64_t length, std::int64_t pad,
                                        std::int64_t max_seq);
/// The valid slot behind an invalid one in bool [1, max_seq] `attention_mask`; or "".
[[nodiscard]] std::string mask_fault(const lockstep::Tensor& attention_mask, std::int64_t max_seq);

}  // namespace gemma4
