#include "processor/byte_fallback.hpp"

#include <charconv>
#include <optional>

#include "processor/utf8.hpp"

namespace gemma4 {
namespace {

std::optional<char> byte_of(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return std::nullopt;
  auto digits = token.substr(3, 2);
  if (digits.front() == '+') digits.remove_prefix(1);  // Rust's parser of integers takes a sign
  unsigned value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return static_cast<char>(value);
}

}  // namespace

void ByteFallbackText::append(std::string_view token) {
  if (const auto byte = byte_of(token)) {
    bytes_.push_back(*byte);
    return;
  }
  flush();
  text_.append(token);
}

void ByteFallbackText::flush() {
  if (first_invalid_utf8(bytes_)) {
    for (std::size_t i = 0; i < bytes_.size(); ++i) text_.append("\uFFFD");
  } else {
    text_.append(bytes_);
  }
  bytes_.clear();
}

std::string ByteFallbackText::take() && {
  flush();
  return std::move(text_);
}

}  // namespace gemma4
