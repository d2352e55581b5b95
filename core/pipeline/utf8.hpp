#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <lockstep/export.hpp>

namespace lockstep {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  ///< 0: not UTF-8 (RFC 3629: no surrogates, no overlong forms)
};

/// The code point that starts at `position`; `position` < text.size().
[[nodiscard]] CodePoint decode_utf8(std::string_view text, std::size_t position);

/// Offset of the first byte that is not UTF-8, or npos.
[[nodiscard]] LOCKSTEP_API std::size_t first_invalid_utf8(std::string_view text);

}  // namespace lockstep
