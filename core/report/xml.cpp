#include "report/xml.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/text.hpp"

namespace lockstep {
namespace {

/// U+FFFE and U+FFFF are valid UTF-8 but no XML characters.
void replace_non_characters(std::string& text) {
  for (const auto* bad : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (auto at = text.find(bad); at != std::string::npos; at = text.find(bad, at))
      text.replace(at, 3, "\xEF\xBF\xBD");
  }
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string shown = fmt::format("{}", fmt::join(lines_of(text), "\n"));
  replace_non_characters(shown);
  std::string result;
  for (const char c : shown) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\n':
        result += "&#10;";
        break;  // a raw one in an attribute would be read as a space
      default:
        result += c;
    }
  }
  return result;
}

std::string xml_attributes(const XmlAttributes& attributes) {
  std::string text;
  for (const auto& [name, value] : attributes) text += fmt::format(" {}=\"{}\"", name, xml_text(value));
  return text;
}

}  // namespace lockstep
