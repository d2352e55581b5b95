#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <lockstep/export.hpp>

namespace gemma4 {

/// The bytes of a file. Throws lockstep::Error that names it when it cannot be read or is larger than `limit` bytes.
[[nodiscard]] std::string read_file(const std::filesystem::path& file, std::uintmax_t limit);

/// A text as errors show it: in quotes, control characters escaped, cut after some forty characters.
[[nodiscard]] LOCKSTEP_API std::string in_quotes(std::string_view text);

/// A JSON value as errors show it: on one line, cut when long.
[[nodiscard]] LOCKSTEP_API std::string shown(const nlohmann::json& value);

/// Builds a JSON document from a stream of events, and is stricter than the library's own builder: a key that occurs
/// twice in an object and nesting beyond 64 levels throw lockstep::Error.
///
/// A base for readers that keep long lists out of the document.
class JsonBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit JsonBuilder(std::string file) : file_(std::move(file)) {}

  [[nodiscard]] nlohmann::json& document() noexcept { return document_; }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // JSON text has none
  bool start_object(std::size_t) override { return open(nlohmann::json::object()); }
  bool key(string_t& value) override;
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(nlohmann::json::array()); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string& token, const nlohmann::json::exception& error) override;

 protected:
  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  /// True if the next value is member `inner` of the outermost object's member `outer`.
  [[nodiscard]] bool at(std::string_view outer, std::string_view inner) const;

 private:
  bool add(nlohmann::json value);
  bool open(nlohmann::json value);
  bool close();
  nlohmann::json& put(nlohmann::json value);
  /// The innermost open value: "model", "added_tokens[3]".
  [[nodiscard]] std::string place() const;

  std::string file_;
  nlohmann::json document_;
  std::vector<nlohmann::json*> open_;
  std::vector<std::string> keys_;  // of each open value; the last key read in it
};

/// Reads a JSON file with JsonBuilder. Errors name the file, line and column.
[[nodiscard]] LOCKSTEP_API nlohmann::json read_json(const std::filesystem::path& file, std::uintmax_t limit);

}  // namespace gemma4
