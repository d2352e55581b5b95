#include "pipeline/utf8.hpp"

#include <array>

namespace lockstep {

CodePoint decode_utf8(std::string_view text, std::size_t position) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[position + i]));
  };
  const auto lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  std::size_t length = 0;
  if (lead >= 0xc2 && lead < 0xe0)
    length = 2;
  else if (lead >= 0xe0 && lead < 0xf0)
    length = 3;
  else if (lead >= 0xf0 && lead < 0xf5)
    length = 4;
  if (length == 0 || text.size() - position < length) return {};
  std::uint32_t value = lead & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return {};
    value = value << 6U | (byte(i) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  if (value < least[length] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return {};
  return {value, length};
}

std::size_t first_invalid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto point = decode_utf8(text, i);
    if (point.bytes == 0) return i;
    i += point.bytes;
  }
  return std::string_view::npos;
}

}  // namespace lockstep
