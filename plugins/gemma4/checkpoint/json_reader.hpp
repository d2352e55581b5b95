#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gemma4 {

/// What is wrong with one JSON file, collected so that a reader hears of all of it at once.
class JsonProblems {
 public:
  explicit JsonProblems(std::filesystem::path file) : file_(std::move(file)) {}

  /// `path` is the key path ("text_config.hidden_size"); `message` goes on from it: "is 0, expected …".
  void add(const std::string& path, const std::string& message);
  [[nodiscard]] bool empty() const noexcept { return lines_.empty(); }
  /// Throws lockstep::Error with every line, if there is any.
  void throw_if_any() const;

 private:
  std::filesystem::path file_;
  std::vector<std::string> lines_;
};

/// Inclusive.
struct IntegerRange {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

/// Reads the members of one JSON object. A member that is missing or wrong is added to the problems and a harmless
/// value is returned, so reading goes on; the caller ends with JsonProblems::throw_if_any. A null counts as missing.
class JsonReader {
 public:
  /// The file's top level. Throws lockstep::Error if it cannot be read, is no JSON or no object.
  static JsonReader from_file(const std::filesystem::path& file, JsonProblems& problems);

  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] std::string path(std::string_view key) const;
  [[nodiscard]] std::vector<std::string> keys() const;
  /// An empty object if missing or wrong.
  [[nodiscard]] JsonReader object(std::string_view key) const;

  [[nodiscard]] std::int64_t integer(std::string_view key, IntegerRange range) const;
  [[nodiscard]] std::int64_t integer_or(std::string_view key, IntegerRange range, std::int64_t fallback) const;
  [[nodiscard]] std::optional<std::int64_t> optional_integer(std::string_view key, IntegerRange range) const;
  /// One integer or a list of them; empty if missing.
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view key, IntegerRange range) const;
  /// A finite number greater than zero.
  [[nodiscard]] double positive(std::string_view key) const;
  [[nodiscard]] std::optional<double> optional_positive(std::string_view key) const;
  [[nodiscard]] std::vector<double> numbers(std::string_view key) const;
  [[nodiscard]] bool boolean_or(std::string_view key, bool fallback) const;
  [[nodiscard]] std::string text(std::string_view key) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view key) const;

  /// Adds a problem unless the member is missing or equal to `expected`; `why` follows the message.
  void require(std::string_view key, const nlohmann::json& expected, std::string_view why) const;
  /// False once anything in the file was wrong: rules between values would only repeat it.
  [[nodiscard]] bool sound() const noexcept { return problems_->empty(); }
  void problem(std::string_view key, const std::string& message) const { problems_->add(path(key), message); }

 private:
  using Json = nlohmann::json;
  JsonReader(std::shared_ptr<const Json> root, const Json* value, std::string prefix, JsonProblems* problems)
      : root_(std::move(root)), value_(value), prefix_(std::move(prefix)), problems_(problems) {}

  [[nodiscard]] const Json* find(std::string_view key) const;
  [[nodiscard]] const Json* find_required(std::string_view key, const std::string& expected) const;
  void wrong(std::string_view key, const Json& found, const std::string& expected) const;
  [[nodiscard]] std::optional<std::int64_t> as_integer(std::string_view key, const Json& found,
                                                       IntegerRange range) const;

  std::shared_ptr<const Json> root_;
  const Json* value_;
  std::string prefix_;
  JsonProblems* problems_;
};

}  // namespace gemma4
