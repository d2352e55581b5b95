#pragma once

#include <cstdint>
#include <functional>

#include <lockstep/export.hpp>
#include <lockstep/tensor.hpp>
#include "reference/reference.hpp"

namespace gemma4 {

/// transformers' generate(do_sample=False, max_new_tokens=…) for a batch, behind the prompt: one token at a time, the
/// first arg max of the float32 logits. A row that drew one of the checkpoint's eos ids goes on
/// with the pad id until every row has. `each` sees the logits, float32 [B, vocab_size], that chose column `step`.
/// Returns int64 [B, n], n <= max_new_tokens.
[[nodiscard]] LOCKSTEP_API lockstep::Tensor generate_greedily(
    const Reference& reference, const ReferencePrompt& prompt, std::int64_t max_new_tokens,
    const std::function<void(std::int64_t step, const lockstep::Tensor& logits)>& each = {});

}  // namespace gemma4
