#include "pipeline/nesting.hpp"

#include <algorithm>

namespace lockstep {
namespace {

/// Offset behind the string that starts at `i`. One that is not closed ends with its line (multi-line: with the text),
/// which is where the parser stops too.
std::size_t skip_string(std::string_view text, std::size_t i) {
  const char quote = text[i];
  const std::string_view rest = text.substr(i);
  const bool escapes = quote == '"';
  const bool multi_line = rest.size() >= 3 && rest[1] == quote && rest[2] == quote;
  for (i += multi_line ? 3 : 1; i < text.size(); ++i) {
    if (escapes && text[i] == '\\') {
      ++i;
    } else if (!multi_line && (text[i] == quote || text[i] == '\n')) {
      return i + 1;
    } else if (multi_line && text[i] == quote && i + 2 < text.size() && text[i + 1] == quote && text[i + 2] == quote) {
      // up to two quotes may stand before the closing three
      auto end = i + 3;
      while (end < text.size() && end < i + 5 && text[end] == quote) ++end;
      return end;
    }
  }
  return text.size();
}

}  // namespace

std::size_t first_too_deep(std::string_view toml) {
  std::size_t brackets = 0;
  std::size_t parts = 1;
  for (std::size_t i = 0; i < toml.size();) {
    const char c = toml[i];
    if (c == '"' || c == '\'') {
      i = skip_string(toml, i);
      continue;
    }
    if (c == '#') {
      i = std::min(toml.find('\n', i), toml.size());
      continue;
    }
    if (c == '.') {
      if (++parts > deepest_nesting) return i;
    } else if (c == '[' || c == '{') {
      parts = 1;
      if (++brackets > deepest_nesting) return i;
    } else if (c == ']' || c == '}') {
      parts = 1;
      if (brackets > 0) --brackets;
    } else if (c == ',' || c == '=' || c == '\n') {
      parts = 1;
    }
    ++i;
  }
  return std::string_view::npos;
}

}  // namespace lockstep
