#include "report/markdown_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "pipeline/display_text.hpp"
#include "report/text.hpp"

namespace lockstep {
namespace {

constexpr std::size_t most_columns = 300;

std::string line_of(std::string_view text) { return display_text(printable(text), most_columns); }

/// Characters of `special` as references, which Markdown and HTML never take for syntax.
std::string referenced(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) == std::string_view::npos)
      result += c;
    else
      result += fmt::format("&#{};", static_cast<int>(c));
  }
  return result;
}

}  // namespace

std::string markdown_text(std::string_view text) {
  constexpr std::string_view no_width_space = "\xe2\x80\x8b";
  std::string result;
  for (const char c : referenced(line_of(text), "\\`*_{}[]<>&|~$")) {
    result += c;
    // Mentions and issue numbers are found in the finished page, where a reference for '@' is an '@' again.
    const bool in_reference = c == '#' && result.size() > 1 && result[result.size() - 2] == '&';
    if (c == '@' || (c == '#' && !in_reference)) result += no_width_space;
  }
  return result;
}

std::string markdown_code(std::string_view text) {
  const auto line = line_of(text);
  const bool plain =
      !line.empty() && line.find_first_of("`|\\") == std::string::npos && line.front() != ' ' && line.back() != ' ';
  if (plain) return "`" + line + "`";
  return "<code>" + referenced(line, "\\`*_{}[]<>&|~$:!()#") + "</code>";
}

std::string markdown_block(std::string_view text, std::string_view language) {
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const auto* end = text.ends_with('\n') ? "" : "\n";
  return fmt::format("{}{}\n{}{}{}\n", fence, language, text, end, fence);
}

}  // namespace lockstep
