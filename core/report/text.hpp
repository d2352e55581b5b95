#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lockstep/value.hpp>

namespace lockstep {

/// `text` made safe for a terminal: control characters, bytes that are no UTF-8 and characters that turn the writing
/// direction are shown by their number, `\x1b`.
[[nodiscard]] LOCKSTEP_API std::string printable(std::string_view text);

/// Columns that `text` (UTF-8, printable) takes: 2 for East Asian wide characters and emoji, 0 for combining marks.
[[nodiscard]] LOCKSTEP_API std::size_t display_width(std::string_view text);

/// `text` followed by spaces up to `width` columns.
[[nodiscard]] LOCKSTEP_API std::string padded(std::string_view text, std::size_t width);

/// The lines of `text`, each printable.
[[nodiscard]] LOCKSTEP_API std::vector<std::string> lines_of(std::string_view text);

/// 20480 -> "20,480"
[[nodiscard]] LOCKSTEP_API std::string grouped(std::int64_t number);

/// "190 MiB"
[[nodiscard]] LOCKSTEP_API std::string memory_text(std::int64_t bytes);
/// "11,203 MiB (842 MiB private)"; `private_bytes` 0: not known, and left out.
[[nodiscard]] LOCKSTEP_API std::string memory_text(std::int64_t bytes, std::int64_t private_bytes);

/// With `digits` significant digits, without trailing zeros: "0.125".
[[nodiscard]] LOCKSTEP_API std::string number_text(double value, int digits);

/// A value and its bound, trailing zeros kept ("0.031", "0.020"): two numbers with `digits` significant digits, or with
/// as many as it takes to show the bound as it was written and to tell them apart ("0.9985", "0.9990").
[[nodiscard]] LOCKSTEP_API std::pair<std::string, std::string> number_texts(double value, double bound, int digits);

/// Two plain values likewise, without trailing zeros; what is not a number is written as in TOML.
[[nodiscard]] LOCKSTEP_API std::pair<std::string, std::string> value_texts(const Value& a, const Value& b, int digits);

}  // namespace lockstep
