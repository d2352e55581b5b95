#pragma once

#include <cstddef>
#include <string_view>

namespace lockstep {

/// Deepest nesting of brackets, and most parts of one dotted key, that a pipeline may have.
inline constexpr std::size_t deepest_nesting = 16;

/// Offset of the first bracket or dot of a TOML text that exceeds `deepest_nesting`, or npos.
///
/// toml++ recurses once per part of a dotted key without a limit, so a text is measured before it is parsed.
[[nodiscard]] std::size_t first_too_deep(std::string_view toml);

}  // namespace lockstep
