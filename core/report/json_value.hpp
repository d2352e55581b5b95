#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include <lockstep/check.hpp>

namespace lockstep {

using Json = nlohmann::ordered_json;

/// The numbers that JSON lacks are the strings "nan", "inf" and "-inf".
[[nodiscard]] Json number(double value);
[[nodiscard]] Json to_json(const Value& value);
/// The keys that are set.
[[nodiscard]] Json to_json(const Bound& bound);
/// "fail", "warn", "allow"
[[nodiscard]] std::string_view name_of(OnVacuous on_vacuous);
/// Two-space indent, a newline at the end; bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string document(const Json& json);

}  // namespace lockstep
