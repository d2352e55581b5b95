#include "processor/json_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <lockstep/diagnostic.hpp>

#include "processor/utf8.hpp"

namespace gemma4 {
namespace {

constexpr std::size_t deepest = 64;
constexpr std::size_t shown_length = 120;

/// At most `limit` bytes of the text, cut between characters.
std::string shortened(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string{text};
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0) == 0x80) --limit;
  return std::string{text.substr(0, limit)} + "…";
}

}  // namespace

std::string read_file(const std::filesystem::path& file, std::uintmax_t limit) {
  std::error_code failure;
  const auto status = std::filesystem::status(file, failure);
  if (!std::filesystem::exists(status)) throw lockstep::Error{fmt::format("{}: no such file", file.string())};
  if (!std::filesystem::is_regular_file(status)) {
    throw lockstep::Error{fmt::format("{}: not a regular file", file.string())};
  }
  const auto size = std::filesystem::file_size(file, failure);
  if (!failure && size > limit) {
    throw lockstep::Error{fmt::format("{}: {} bytes, expected at most {}", file.string(), size, limit)};
  }
  std::ifstream stream{file, std::ios::binary};
  std::string bytes(static_cast<std::size_t>(failure ? 0 : size), '\0');
  if (!stream || failure || !stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
    throw lockstep::Error{fmt::format("{}: cannot be read: {}", file.string(), std::strerror(errno))};
  }
  return bytes;
}

std::string in_quotes(std::string_view text) {
  using nlohmann::json;
  return json(shortened(text, 40)).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string shown(const nlohmann::json& value) {
  return shortened(value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), shown_length);
}

bool JsonBuilder::key(string_t& value) {
  if (open_.back()->contains(value)) {
    throw lockstep::Error{fmt::format("{}: key {} occurs twice in {}", file_, in_quotes(value), place())};
  }
  keys_.back() = std::move(value);
  return true;
}

bool JsonBuilder::parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
  // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error …": the number helps nobody.
  std::string_view reason = error.what();
  if (const auto end = reason.find("] "); end != std::string_view::npos) reason.remove_prefix(end + 2);
  throw lockstep::Error{fmt::format("{}: not valid JSON: {}", file_, shortened(reason, 300))};
}

std::string JsonBuilder::place() const {
  std::string path;
  for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
    if (open_[i]->is_array()) {
      path += fmt::format("[{}]", open_[i]->size() - 1);
    } else {
      path += (path.empty() ? "" : ".") + shortened(keys_[i], 40);
    }
  }
  return path.empty() ? "the document" : path;
}

bool JsonBuilder::at(std::string_view outer, std::string_view inner) const {
  return keys_.size() == 2 && keys_[0] == outer && keys_[1] == inner;
}

nlohmann::json& JsonBuilder::put(nlohmann::json value) {
  if (open_.empty()) return document_ = std::move(value);
  if (open_.back()->is_array()) return open_.back()->emplace_back(std::move(value));
  return (*open_.back())[keys_.back()] = std::move(value);
}

bool JsonBuilder::add(nlohmann::json value) {
  put(std::move(value));
  return true;
}

bool JsonBuilder::open(nlohmann::json value) {
  if (open_.size() == deepest) {
    throw lockstep::Error{fmt::format("{}: nested deeper than {} levels", file_, deepest)};
  }
  open_.push_back(&put(std::move(value)));
  keys_.emplace_back();
  return true;
}

bool JsonBuilder::close() {
  open_.pop_back();
  keys_.pop_back();
  return true;
}

nlohmann::json read_json(const std::filesystem::path& file, std::uintmax_t limit) {
  JsonBuilder builder{file.string()};
  nlohmann::json::sax_parse(read_file(file, limit), &builder);
  return std::move(builder.document());
}

}  // namespace gemma4
