#pragma once

#include <string>
#include <string_view>

#include <lockstep/export.hpp>

namespace gemma4 {

/// SHA-256 as lower-case hexadecimal.
[[nodiscard]] LOCKSTEP_API std::string sha256_hex(std::string_view bytes);

}  // namespace gemma4
