#include "pipeline/display_text.hpp"

#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "pipeline/utf8.hpp"

namespace lockstep {
namespace {

struct Range {
  std::uint32_t first, last;
};
// The blocks that matter for text in configuration files, from Unicode's EastAsianWidth.txt (W, F) and category Mn.
constexpr std::array wide{Range{0x1100, 0x115f}, Range{0x2e80, 0xa4cf},   Range{0xac00, 0xd7a3},
                          Range{0xf900, 0xfaff}, Range{0xfe30, 0xfe6f},   Range{0xff00, 0xff60},
                          Range{0xffe0, 0xffe6}, Range{0x1f300, 0x1faff}, Range{0x20000, 0x3fffd}};
constexpr std::array combining{Range{0x300, 0x36f}, Range{0x200b, 0x200f}, Range{0xfe00, 0xfe0f}};
// Would reorder or hide what the reader sees.
constexpr std::array bidirectional{Range{0x202a, 0x202e}, Range{0x2066, 0x2069}};

template <std::size_t N>
bool contains(const std::array<Range, N>& ranges, std::uint32_t point) {
  for (const auto& range : ranges) {
    if (point >= range.first && point <= range.last) return true;
  }
  return false;
}

}  // namespace

DisplayUnit display_unit(std::string_view text, std::size_t position) {
  const auto [point, bytes] = decode_utf8(text, position);
  if (bytes == 0) return {fmt::format("\\x{:02x}", static_cast<unsigned char>(text[position])), 1, 4};
  if (point == '\t') return {" ", 1, 1};
  if (point < 0x20 || point == 0x7f) return {fmt::format("\\x{:02x}", point), 1, 4};
  if ((point >= 0x80 && point < 0xa0) || contains(bidirectional, point)) {
    auto shown = fmt::format("\\u{:04x}", point);
    return {shown, bytes, shown.size()};
  }
  const std::size_t columns = contains(combining, point) ? 0 : contains(wide, point) ? 2 : 1;
  return {std::string(text.substr(position, bytes)), bytes, columns};
}

std::string display_text(std::string_view text, std::size_t limit) {
  std::string result;
  std::size_t columns = 0;
  for (std::size_t i = 0; i < text.size();) {
    const auto unit = display_unit(text, i);
    if (columns + unit.columns > limit) return result + "…";
    result += unit.text;
    columns += unit.columns;
    i += unit.bytes;
  }
  return result;
}

}  // namespace lockstep
