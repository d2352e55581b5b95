#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "report/json_value.hpp"

namespace lockstep {

/// A JSON document from `text`, not nested deeper than 100 levels. Throws Error (F003) that points at the place in
/// `name`.
[[nodiscard]] Json parse_json(std::string_view text, const std::string& name);

/// A value in a JSON document and the way to it, so that what is wrong there can be said with its place. A view: the
/// document, its name and the place that it was reached from must outlive it.
///
/// Every accessor throws Error (F003) if the value is not what is asked for:
/// `steps[3] (mm_fusion).checks[0] (matches_reference).metric is "foo", expected …`.
class JsonPlace {
 public:
  JsonPlace(const Json& document, const std::string& name) : json_(&document), document_(&name) {}

  /// Field of an object; one that is missing is an error.
  [[nodiscard]] JsonPlace at(std::string_view key) const;
  /// None if the object lacks the field or has null there.
  [[nodiscard]] std::optional<JsonPlace> find(std::string_view key) const;

  [[nodiscard]] bool is_null() const { return json_->is_null(); }
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::optional<std::string> text_or_null() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::int64_t integer() const;
  /// An integer from `low` to `high`.
  [[nodiscard]] std::int64_t integer(std::int64_t low, std::int64_t high) const;
  /// A number, or "nan", "inf", "-inf".
  [[nodiscard]] double number() const;
  [[nodiscard]] Value value() const;

  /// Calls `body(place)` for each element of a list.
  template <class Body>
  void each_element(Body&& body) const {
    require_list();
    for (std::size_t i = 0; i < json_->size(); ++i) body(JsonPlace((*json_)[i], *document_, this, {}, i));
  }
  /// Calls `body(name, place)` for each field of an object, in order.
  template <class Body>
  void each_field(Body&& body) const {
    require_object();
    for (const auto& [key, field] : json_->items()) body(key, JsonPlace(field, *document_, this, key, 0));
  }

  /// "steps[3] (mm_fusion).checks", "the document"
  [[nodiscard]] std::string path() const;
  /// "<path> is <what was found>, expected <expected>"
  [[noreturn]] void fail(std::string_view expected, std::string help = {}) const;

 private:
  JsonPlace(const Json& json, const std::string& document, const JsonPlace* parent, std::string_view key,
            std::size_t index)
      : json_(&json), document_(&document), parent_(parent), key_(key), index_(index) {}
  void require_list() const;
  void require_object() const;

  const Json* json_;
  const std::string* document_;
  const JsonPlace* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = 0;
};

}  // namespace lockstep
