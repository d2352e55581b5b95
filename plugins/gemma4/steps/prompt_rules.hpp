#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "checkpoint/config.hpp"
#include "processor/tokenizer.hpp"

// What a prompt's ids must keep to before image ids are replaced: once they are, nobody can tell.

namespace gemma4 {

/// The run of image tokens of a prompt.
struct ImageRun {
  std::int64_t first = 0;  ///< slot; 0 if there is none
  std::int64_t count = 0;
  std::int64_t span = 0;  ///< slots from the first to the last; more than `count` if something lies between
};
[[nodiscard]] ImageRun image_run_of(std::span<const std::int64_t> ids, std::optional<std::int64_t> image);

/// "2 x '<|audio|>'": placeholders of sounds and videos; or "".
[[nodiscard]] std::string other_placeholders(std::span<const std::int64_t> ids, const Tokenizer& tokenizer,
                                             const SpecialTokenIds& special);
/// The first id outside the vocabulary; or "".
[[nodiscard]] std::string vocabulary_fault(std::span<const std::int64_t> ids, std::int64_t vocab_size);

}  // namespace gemma4
