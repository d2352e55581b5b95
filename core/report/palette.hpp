#pragma once

#include <string>
#include <string_view>

namespace lockstep {

/// Parameters of the ANSI escape sequences that the reports use.
namespace palette {
inline constexpr std::string_view good = "32";
inline constexpr std::string_view neutral = "36";
inline constexpr std::string_view warning = "33";
inline constexpr std::string_view bad = "1;31";
inline constexpr std::string_view faint = "2";
inline constexpr std::string_view strong = "1";
}  // namespace palette

[[nodiscard]] inline std::string painted(const std::string& text, std::string_view colour, bool on) {
  return on ? "\x1b[" + std::string(colour) + "m" + text + "\x1b[0m" : text;
}

}  // namespace lockstep
