#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include <lockstep/value.hpp>

namespace lockstep {

using Json = nlohmann::ordered_json;

/// The numbers that JSON lacks are the strings "nan", "inf" and "-inf".
[[nodiscard]] Json number(double value);
[[nodiscard]] Json to_json(const Value& value);
/// The inverse, except that "nan", "inf" and "-inf" stay text.
[[nodiscard]] Value to_value(const Json& json);
/// Two-space indent, a newline at the end; bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string document(const Json& json);

}  // namespace lockstep
