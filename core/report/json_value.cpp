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

Value to_value(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) {
    Value::Array array;
    for (const auto& element : json) array.push_back(to_value(element));
    return array;
  }
  if (json.is_object()) {
    Value::Table table;
    for (const auto& [key, element] : json.items()) table.emplace_back(key, to_value(element));
    return table;
  }
  return {};
}

std::string document(const Json& json) {
  return json.dump(2, ' ', false, nlohmann::detail::error_handler_t::replace) + "\n";
}

}  // namespace lockstep
