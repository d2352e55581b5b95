#include "report/text.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "pipeline/display_text.hpp"

namespace lockstep {
namespace {

enum class Zeros { keep, trim };

std::string significant(double value, int digits, Zeros zeros) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (value == 0) return std::signbit(value) ? "-0" : "0";
  if (zeros == Zeros::trim) return fmt::format("{:.{}g}", value, digits);
  auto text = fmt::format("{:#.{}g}", value, digits);
  const auto digits_and_sign = static_cast<std::size_t>(digits) + (std::signbit(value) ? 1 : 0);
  const bool whole = text.find('.') == digits_and_sign;  // "120." or, of some versions of fmt, "120.0"
  if (whole && text.find('e') == std::string::npos) text.resize(digits_and_sign);
  return text;
}

/// With `digits` significant digits, or as many as it takes to tell them apart.
std::pair<std::string, std::string> told_apart(double a, double b, int digits, Zeros zeros) {
  constexpr int enough = 17;  // tells any two doubles apart
  std::pair<std::string, std::string> texts;
  for (int n = digits; n <= enough; ++n) {
    texts = {significant(a, n, zeros), significant(b, n, zeros)};
    if (texts.first != texts.second || a == b) break;
  }
  return texts;
}

/// How many significant digits show `bound` as it is, "120" and not "1.2e+02"; at most 6, as nobody writes more.
int digits_of(double bound) {
  constexpr int most = 6;
  if (!std::isfinite(bound)) return 1;
  for (int n = 1; n < most; ++n) {
    const auto text = significant(bound, n, Zeros::trim);
    const bool shortened = std::abs(bound) >= 1 && std::abs(bound) < 1e6 && text.find('e') != std::string::npos;
    if (!shortened && std::strtod(text.c_str(), nullptr) == bound) return n;
  }
  return most;
}

}  // namespace

std::string printable(std::string_view text) { return display_text(text, std::string_view::npos); }

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto unit = display_unit(text, at);
    width += unit.columns;
    at += unit.bytes;
  }
  return width;
}

std::string padded(std::string_view text, std::size_t width) {
  const auto own = display_width(text);
  return std::string(text) + std::string(own < width ? width - own : 0, ' ');
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (true) {
    const auto end = text.find('\n');
    lines.push_back(printable(text.substr(0, end)));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  while (lines.size() > 1 && lines.back().empty()) lines.pop_back();
  return lines;
}

std::string grouped(std::int64_t number) {
  auto digits = std::to_string(number);
  const std::size_t sign = number < 0 ? 1 : 0;
  for (auto at = digits.size(); at > sign + 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string memory_text(std::int64_t bytes) {
  constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
  return grouped((bytes + mebibyte / 2) / mebibyte) + " MiB";
}

std::string memory_text(std::int64_t bytes, std::int64_t private_bytes) {
  const auto all = memory_text(bytes);
  return private_bytes == 0 ? all : fmt::format("{} ({} private)", all, memory_text(private_bytes));
}

std::string number_text(double value, int digits) { return significant(value, digits, Zeros::trim); }

std::pair<std::string, std::string> number_texts(double value, double bound, int digits) {
  return told_apart(value, bound, std::max(digits, digits_of(bound)), Zeros::keep);
}

std::pair<std::string, std::string> value_texts(const Value& a, const Value& b, int digits) {
  const auto* x = std::get_if<double>(&a.data);
  const auto* y = std::get_if<double>(&b.data);
  if (x && y) return told_apart(*x, *y, digits, Zeros::trim);
  return {to_text(a), to_text(b)};
}

}  // namespace lockstep
