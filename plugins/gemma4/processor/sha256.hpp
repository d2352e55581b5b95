#pragma once

#include <string>
#include <string_view>

namespace gemma4 {

/// SHA-256 as lower-case hexadecimal.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace gemma4
