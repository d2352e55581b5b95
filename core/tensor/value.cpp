#include <lockstep/value.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace lockstep {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

std::string key_text(const std::string& key) {
  const auto is_bare = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !key.empty() && std::all_of(key.begin(), key.end(), is_bare) ? key : quoted(key);
}

/// The shortest text that reads back as the same number; always recognisable as a float in TOML.
std::string number_text(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  char buffer[32];
  const auto end = std::to_chars(std::begin(buffer), std::end(buffer), number).ptr;
  std::string text(std::begin(buffer), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

struct Writer {
  std::string operator()(std::monostate) const { return "none"; }
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(std::int64_t v) const { return std::to_string(v); }
  std::string operator()(double v) const { return number_text(v); }
  std::string operator()(const std::string& v) const { return quoted(v); }
  std::string operator()(const Value::Array& v) const {
    std::string out = "[";
    for (const Value& element : v) {
      if (out.size() > 1) out += ", ";
      out += to_text(element);
    }
    return out + "]";
  }
  std::string operator()(const Value::Table& v) const {
    if (v.empty()) return "{}";
    std::string out = "{ ";
    for (const auto& [key, element] : v) {
      if (out.size() > 2) out += ", ";
      out += key_text(key) + " = " + to_text(element);
    }
    return out + " }";
  }
};

}  // namespace

std::string to_text(const Value& value) { return std::visit(Writer{}, value.data); }

}  // namespace lockstep
