#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <lockstep/export.hpp>

namespace lockstep {

/// A plain value of a pipeline file or of the run record: what TOML and JSON have in common. Tables keep their order.
struct Value {
  using Array = std::vector<Value>;
  using Table = std::vector<std::pair<std::string, Value>>;

  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Table> data;

  Value() = default;
  Value(bool v) : data(v) {}                      // NOLINT(google-explicit-constructor)
  Value(int v) : data(std::int64_t{v}) {}         // NOLINT(google-explicit-constructor)
  Value(std::int64_t v) : data(v) {}              // NOLINT(google-explicit-constructor)
  Value(double v) : data(v) {}                    // NOLINT(google-explicit-constructor)
  Value(std::string v) : data(std::move(v)) {}    // NOLINT(google-explicit-constructor)
  Value(const char* v) : data(std::string(v)) {}  // NOLINT(google-explicit-constructor)
  Value(Array v) : data(std::move(v)) {}          // NOLINT(google-explicit-constructor)
  Value(Table v) : data(std::move(v)) {}          // NOLINT(google-explicit-constructor)

  friend bool operator==(const Value&, const Value&) = default;
};

/// One line as it would stand in TOML: `0.02`, `"text"`, `[1, 2]`, `{ max = 0.02 }`.
[[nodiscard]] LOCKSTEP_API std::string to_text(const Value& value);

}  // namespace lockstep
