#include "report/json_place.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <vector>

#include <lockstep/diagnostic.hpp>

#include "pipeline/display_text.hpp"
#include "pipeline/render_diagnostic.hpp"

namespace lockstep {
namespace {

constexpr int deepest = 100;  // reading and writing recurse once per level
constexpr std::size_t shown_columns = 40;

[[noreturn]] void fail_in(const std::string& name, std::string message, std::string help) {
  throw Error(Diagnostic{.code = "F003",
                         .message = std::move(message),
                         .location = {std::make_shared<const SourceText>(SourceText{name, {}})},
                         .help = std::move(help)});
}

/// The place of byte `offset`.
Location place_of(std::string_view text, std::size_t offset, const std::string& name) {
  const auto before = text.substr(0, std::min(offset, text.size()));
  const auto line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {std::make_shared<const SourceText>(SourceText{name, std::string(text)}),
          static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1, before.size() - line_start + 1};
}

std::string found(const Json& json) {
  if (json.is_null()) return "null";
  if (json.is_object()) return "an object";
  if (json.is_array()) return "a list";
  if (json.is_string()) return fmt::format("\"{}\"", display_text(json.get_ref<const std::string&>(), shown_columns));
  return json.dump();
}

/// " (mm_fusion)": what an element of a list calls itself.
std::string name_of_element(const Json& json) {
  for (const auto* key : {"id", "name"}) {
    if (!json.is_object()) break;
    const auto field = json.find(key);
    if (field == json.end() || !field->is_string()) continue;
    return fmt::format(" ({})", display_text(field->get_ref<const std::string&>(), shown_columns));
  }
  return {};
}

Value value_of(const Json& json, const JsonPlace& place) {
  switch (json.type()) {
    case Json::value_t::boolean:
      return json.get<bool>();
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return place.integer();
    case Json::value_t::number_float:
      return json.get<double>();
    case Json::value_t::string:
      return json.get<std::string>();
    case Json::value_t::array: {
      Value::Array list;
      place.each_element([&list](const JsonPlace& element) { list.push_back(element.value()); });
      return list;
    }
    case Json::value_t::object: {
      Value::Table table;
      place.each_field(
          [&table](const std::string& key, const JsonPlace& field) { table.emplace_back(key, field.value()); });
      return table;
    }
    default:
      return {};
  }
}

}  // namespace

Json parse_json(std::string_view text, const std::string& name) {
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto watch = [&](int depth, Json::parse_event_t event, const Json& parsed) {
    if (depth > deepest)
      fail_in(name, fmt::format("lists and objects are nested more than {} levels deep", deepest), {});
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(parsed.get_ref<const std::string&>()).second)
      fail_in(name, fmt::format("an object has the field {} twice", in_quotes(parsed.get_ref<const std::string&>())),
              "a record is read as lockstep wrote it; look for what changed it");
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const Json::parse_error& error) {
    const auto offset = error.byte > 0 ? error.byte - 1 : 0;
    const bool ended = offset >= text.size();
    throw Error(Diagnostic{.code = "F003",
                           .message = ended ? "the document ends too early, expected a whole JSON document"
                                            : "this is not JSON, expected a run record",
                           .location = place_of(text, offset, name),
                           .help = "give a file that 'lockstep run PIPELINE --json FILE' wrote"});
  } catch (const Json::exception&) {  // a number that no double can hold
    fail_in(name, "a number is out of range", {});
  }
}

JsonPlace JsonPlace::at(std::string_view key) const {
  require_object();
  const auto field = json_->find(key);
  if (field == json_->end())
    fail_in(*document_, fmt::format("{} has no field '{}'", path(), key), "the fields are listed in docs/record.md");
  return {*field, *document_, this, key, 0};
}

std::optional<JsonPlace> JsonPlace::find(std::string_view key) const {
  require_object();
  const auto field = json_->find(key);
  if (field == json_->end() || field->is_null()) return std::nullopt;
  return JsonPlace(*field, *document_, this, key, 0);
}

std::string JsonPlace::text() const {
  if (!json_->is_string()) fail("text");
  return json_->get<std::string>();
}

std::optional<std::string> JsonPlace::text_or_null() const {
  if (is_null()) return std::nullopt;
  if (!json_->is_string()) fail("text or null");
  return json_->get<std::string>();
}

bool JsonPlace::boolean() const {
  if (!json_->is_boolean()) fail("true or false");
  return json_->get<bool>();
}

std::int64_t JsonPlace::integer() const {
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  if (!json_->is_number_integer()) fail("an integer");
  if (json_->is_number_unsigned() && json_->get<std::uint64_t>() > static_cast<std::uint64_t>(largest))
    fail(fmt::format("an integer of at most {}", largest));
  return json_->get<std::int64_t>();
}

std::int64_t JsonPlace::integer(std::int64_t low, std::int64_t high) const {
  const auto number = integer();
  if (number < low || number > high) fail(fmt::format("an integer from {} to {}", low, high));
  return number;
}

double JsonPlace::number() const {
  if (json_->is_number()) return json_->get<double>();
  constexpr auto infinity = std::numeric_limits<double>::infinity();
  if (*json_ == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (*json_ == "inf") return infinity;
  if (*json_ == "-inf") return -infinity;
  fail("a number, \"nan\", \"inf\" or \"-inf\"");
}

Value JsonPlace::value() const { return value_of(*json_, *this); }

void JsonPlace::require_list() const {
  if (!json_->is_array()) fail("a list");
}

void JsonPlace::require_object() const {
  if (!json_->is_object()) fail("an object");
}

std::string JsonPlace::path() const {
  if (parent_ == nullptr) return "the document";
  auto before = parent_->parent_ == nullptr ? std::string() : parent_->path();
  if (key_.data() == nullptr) return fmt::format("{}[{}]{}", before, index_, name_of_element(*json_));
  return before + (before.empty() ? "" : ".") + display_text(key_, shown_columns);
}

void JsonPlace::fail(std::string_view expected, std::string help) const {
  fail_in(*document_, fmt::format("{} is {}, expected {}", path(), found(*json_), expected), std::move(help));
}

}  // namespace lockstep
