#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include <lockstep/export.hpp>

namespace gemma4 {

/// One code point and how many bytes it takes; length 0 if the text does not start with valid UTF-8.
struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;
};

/// The first code point of a text. Overlong forms, surrogates and values above U+10FFFF are not valid (RFC 3629).
[[nodiscard]] LOCKSTEP_API CodePoint first_code_point(std::string_view text) noexcept;

/// Offset of the first byte that does not belong to valid UTF-8; nothing if all is valid.
[[nodiscard]] LOCKSTEP_API std::optional<std::size_t> first_invalid_utf8(std::string_view text) noexcept;

/// Unicode's White_Space property (PropList.txt; 25 code points, unchanged since Unicode 6.3).
[[nodiscard]] bool is_white_space(char32_t c) noexcept;

/// The text without the code points at its ends for which `predicate` holds. The text must be valid UTF-8.
[[nodiscard]] std::string_view trim_end(std::string_view text, bool (*predicate)(char32_t)) noexcept;
[[nodiscard]] std::string_view trim_start(std::string_view text, bool (*predicate)(char32_t)) noexcept;

}  // namespace gemma4
