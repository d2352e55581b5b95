#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "processor/tokenizer.hpp"

namespace gemma4 {

/// Ids of one user turn (and a system turn before it) in the chat format, put together from the ids of its parts:
/// `<bos>`, then for each turn `<|turn>`, "role\ntext", `<turn|>`, "\n"; last `<|turn>` and "model\n".
///
/// ChatFormat renders the same as one text. This is the second way there, and shares only the tokenizer with it:
/// special tokens cut a text into pieces that are encoded alone, so both give the same ids. Throws lockstep::Error if
/// the tokenizer lacks a token of the format.
[[nodiscard]] std::vector<std::int64_t> ids_of_chat_parts(const Tokenizer& tokenizer,
                                                          const std::optional<std::string>& system,
                                                          const std::string& prompt);

/// Without white space at both ends, as Python's str.strip() removes it.
[[nodiscard]] std::string_view stripped(std::string_view text);

}  // namespace gemma4
