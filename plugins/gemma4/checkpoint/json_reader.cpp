#include "checkpoint/json_reader.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <lockstep/diagnostic.hpp>
#include <utility>

namespace gemma4 {
namespace {

/// A value as it stands in the file, cut where it is long.
std::string shown(const nlohmann::json& value) {
  constexpr std::size_t longest = 60;
  auto text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > longest) text = text.substr(0, longest) + "…";
  return text;
}

std::string text_of(IntegerRange range) {
  if (range.max == std::numeric_limits<std::int64_t>::max()) return fmt::format("an integer of at least {}", range.min);
  return fmt::format("an integer from {} to {}", range.min, range.max);
}

/// nlohmann's text without its "[json.exception.parse_error.101] " mark.
std::string plain_message(const nlohmann::json::exception& error) {
  const std::string text = error.what();
  const auto end = text.find("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

}  // namespace

void JsonProblems::add(const std::string& path, const std::string& message) { lines_.push_back(path + " " + message); }

void JsonProblems::throw_if_any() const {
  if (lines_.empty()) return;
  const std::string help = "correct the file, or use a checkpoint of the Gemma 4 E2B/E4B family";
  if (lines_.size() == 1) throw lockstep::Error{fmt::format("{}: {}", file_.string(), lines_.front()), help};
  auto message = fmt::format("{}: {} problems", file_.string(), lines_.size());
  for (const auto& line : lines_) message += "\n  " + line;
  throw lockstep::Error{message, help};
}

JsonReader JsonReader::from_file(const std::filesystem::path& file, JsonProblems& problems) {
  if (std::error_code error; !std::filesystem::is_regular_file(file, error)) {
    throw lockstep::Error{fmt::format("{} does not exist or is not a file", file.string()),
                          "a checkpoint folder in Hugging Face's layout is expected; download all of its files"};
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw lockstep::Error{fmt::format("{} cannot be opened", file.string()), "check its permissions"};
  std::shared_ptr<const Json> root;
  try {
    root = std::make_shared<const Json>(Json::parse(stream));
  } catch (const Json::exception& error) {
    throw lockstep::Error{fmt::format("{} is not valid JSON: {}", file.string(), plain_message(error)),
                          "download or write the file again"};
  }
  if (!root->is_object()) {
    throw lockstep::Error{fmt::format("{} holds {}, expected a JSON object", file.string(), shown(*root)),
                          "download or write the file again"};
  }
  const Json* value = root.get();
  return {std::move(root), value, "", &problems};
}

const nlohmann::json* JsonReader::find(std::string_view key) const {
  const auto it = value_->find(key);
  return it == value_->end() || it->is_null() ? nullptr : &*it;
}

const nlohmann::json* JsonReader::find_required(std::string_view key, const std::string& expected) const {
  const auto* found = find(key);
  if (!found) problem(key, "is missing, expected " + expected);
  return found;
}

void JsonReader::wrong(std::string_view key, const Json& found, const std::string& expected) const {
  problem(key, fmt::format("is {}, expected {}", shown(found), expected));
}

bool JsonReader::has(std::string_view key) const { return find(key) != nullptr; }

std::string JsonReader::path(std::string_view key) const {
  return prefix_.empty() ? std::string(key) : fmt::format("{}.{}", prefix_, key);
}

std::vector<std::string> JsonReader::keys() const {
  std::vector<std::string> result;
  for (const auto& [key, member] : value_->items()) result.push_back(key);
  return result;
}

JsonReader JsonReader::object(std::string_view key) const {
  static const Json nothing = Json::object();
  const auto* found = find_required(key, "an object");
  if (found && !found->is_object()) {
    wrong(key, *found, "an object");
    found = nullptr;
  }
  return {root_, found ? found : &nothing, path(key), problems_};
}

std::optional<std::int64_t> JsonReader::as_integer(std::string_view key, const Json& found, IntegerRange range) const {
  // Unsigned values beyond int64 are integers to JSON but none of ours.
  const bool fits =
      found.is_number_integer() && (!found.is_number_unsigned() || found.get<std::uint64_t>() <= INT64_MAX);
  if (fits) {
    const auto value = found.get<std::int64_t>();
    if (value >= range.min && value <= range.max) return value;
  }
  wrong(key, found, text_of(range));
  return std::nullopt;
}

std::int64_t JsonReader::integer(std::string_view key, IntegerRange range) const {
  const auto* found = find_required(key, text_of(range));
  return found ? as_integer(key, *found, range).value_or(range.min) : range.min;
}

std::int64_t JsonReader::integer_or(std::string_view key, IntegerRange range, std::int64_t fallback) const {
  return optional_integer(key, range).value_or(fallback);
}

std::optional<std::int64_t> JsonReader::optional_integer(std::string_view key, IntegerRange range) const {
  const auto* found = find(key);
  return found ? as_integer(key, *found, range) : std::nullopt;
}

std::vector<std::int64_t> JsonReader::integers(std::string_view key, IntegerRange range) const {
  const auto* found = find(key);
  if (!found) return {};
  std::vector<std::int64_t> result;
  if (!found->is_array()) {
    if (const auto value = as_integer(key, *found, range)) result.push_back(*value);
    return result;
  }
  for (std::size_t i = 0; i < found->size(); ++i) {
    const auto value = as_integer(fmt::format("{}[{}]", key, i), (*found)[i], range);
    if (value) result.push_back(*value);
  }
  return result;
}

double JsonReader::positive(std::string_view key) const {
  if (!find_required(key, "a number greater than 0")) return 1;
  return optional_positive(key).value_or(1);
}

std::optional<double> JsonReader::optional_positive(std::string_view key) const {
  const auto* found = find(key);
  if (!found) return std::nullopt;
  if (found->is_number()) {
    const auto value = found->get<double>();
    if (std::isfinite(value) && value > 0) return value;
  }
  wrong(key, *found, "a number greater than 0");
  return std::nullopt;
}

std::vector<double> JsonReader::numbers(std::string_view key) const {
  const auto* found = find(key);
  if (!found) return {};
  std::vector<double> result;
  bool all_numbers = found->is_array();
  if (all_numbers) {
    for (const auto& element : *found) {
      all_numbers = all_numbers && element.is_number();
      if (element.is_number()) result.push_back(element.get<double>());
    }
  }
  if (!all_numbers) wrong(key, *found, "a list of numbers");
  return result;
}

bool JsonReader::boolean_or(std::string_view key, bool fallback) const {
  const auto* found = find(key);
  if (!found) return fallback;
  if (!found->is_boolean()) {
    wrong(key, *found, "true or false");
    return fallback;
  }
  return found->get<bool>();
}

std::string JsonReader::text(std::string_view key) const {
  const auto* found = find_required(key, "a text");
  if (!found) return {};
  if (!found->is_string()) {
    wrong(key, *found, "a text");
    return {};
  }
  return found->get<std::string>();
}

std::vector<std::string> JsonReader::texts(std::string_view key) const {
  const auto* found = find_required(key, "a list of texts");
  if (!found) return {};
  std::vector<std::string> result;
  bool all_texts = found->is_array();
  if (all_texts) {
    for (const auto& element : *found) {
      all_texts = all_texts && element.is_string();
      if (element.is_string()) result.push_back(element.get<std::string>());
    }
  }
  if (!all_texts) {
    wrong(key, *found, "a list of texts");
    return {};
  }
  return result;
}

void JsonReader::require(std::string_view key, const nlohmann::json& expected, std::string_view why) const {
  const auto* found = find(key);
  if (found && *found != expected)
    problem(key, fmt::format("is {}, expected {}: {}", shown(*found), shown(expected), why));
}

}  // namespace gemma4
