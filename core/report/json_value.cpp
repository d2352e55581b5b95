#include "report/json_value.hpp"

#include <cmath>

namespace lockstep {

Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json to_json(const Value& value) {
  struct Visitor {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(bool v) const { return v; }
    Json operator()(std::int64_t v) const { return v; }
    Json operator()(double v) const { return number(v); }
    Json operator()(const std::string& v) const { return v; }
    Json operator()(const Value::Array& v) const {
      auto array = Json::array();
      for (const auto& element : v) array.push_back(to_json(element));
      return array;
    }
    Json operator()(const Value::Table& v) const {
      auto object = Json::object();
      for (const auto& [key, element] : v) object[key] = to_json(element);
      return object;
    }
  };
  return std::visit(Visitor{}, value.data);
}

Json to_json(const Bound& bound) {
  auto json = Json::object();
  for (const auto& [key, member] : bound_members)
    if (const auto& value = bound.*member) json[std::string(key)] = number(*value);
  return json;
}

std::string_view name_of(OnVacuous on_vacuous) {
  switch (on_vacuous) {
    case OnVacuous::fail:
      return "fail";
    case OnVacuous::warn:
      return "warn";
    case OnVacuous::allow:
      return "allow";
  }
  return "fail";
}

std::string document(const Json& json) {
  return json.dump(2, ' ', false, nlohmann::detail::error_handler_t::replace) + "\n";
}

}  // namespace lockstep
