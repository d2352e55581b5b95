#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include <lockstep/export.hpp>

namespace lockstep {

/// SHA-256 as 64 lower-case hex digits.
[[nodiscard]] LOCKSTEP_API std::string sha256(std::span<const std::byte> bytes);
[[nodiscard]] LOCKSTEP_API std::string sha256(std::string_view bytes);
/// Of a file's content, read in blocks. Throws Error if it cannot be read.
[[nodiscard]] LOCKSTEP_API std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace lockstep
