#include "processor/tokenizer.hpp"

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

#include "processor/byte_fallback.hpp"
#include "processor/tables.hpp"
#include "processor/utf8.hpp"

namespace gemma4 {
namespace {

constexpr std::size_t largest_text = 1u << 30;  // positions in a word are 32-bit

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0;;) {
    const auto next = text.find(from, at);
    result.append(text.substr(at, next - at));
    if (next == std::string_view::npos) return result;
    result.append(to);
    at = next + from.size();
  }
}

void encode_piece(const Tokenizer::Tables& tables, std::string_view text, std::vector<std::int64_t>& ids) {
  const auto normalized = normalize(text);  // the pieces point into it
  for (const auto& piece : tables.normalized.split(normalized)) {
    if (piece.id) {
      ids.push_back(*piece.id);
    } else {
      tables.model.append_word(piece.text, ids);
    }
  }
}

}  // namespace

std::string normalize(std::string_view text) { return replace_all(text, " ", "\u2581"); }

Tokenizer::Tokenizer(std::shared_ptr<const Tables> tables) : tables_(std::move(tables)) {}

Tokenizer Tokenizer::from_file(const std::filesystem::path& tokenizer_json) {
  auto tables = std::make_shared<Tables>(read_tables(tokenizer_json));
  finish(*tables);
  return Tokenizer{std::move(tables)};
}

Tokenizer Tokenizer::from_files(const std::filesystem::path& tokenizer_json,
                                const std::filesystem::path& tokenizer_config_json) {
  auto tables = std::make_shared<Tables>(read_tables(tokenizer_json));
  apply_tokenizer_config(*tables, tokenizer_config_json);
  finish(*tables);
  return Tokenizer{std::move(tables)};
}

Tokenizer Tokenizer::from_checkpoint(const Checkpoint& checkpoint) {
  const auto config = checkpoint.tokenizer_config_file();
  return std::filesystem::exists(config) ? from_files(checkpoint.tokenizer_file(), config)
                                         : from_file(checkpoint.tokenizer_file());
}

std::vector<std::int64_t> Tokenizer::encode(std::string_view text, bool add_special_tokens) const {
  if (text.size() > largest_text) {
    throw lockstep::Error{fmt::format("the text has {} bytes, expected at most {}", text.size(), largest_text)};
  }
  if (const auto at = first_invalid_utf8(text)) {
    throw lockstep::Error{fmt::format("the text is not valid UTF-8: byte 0x{:02X} at offset {}",
                                      static_cast<unsigned char>(text[*at]), *at),
                          "save or pass the prompt as UTF-8"};
  }
  std::vector<std::int64_t> ids;
  if (add_special_tokens) ids = tables_->before;
  for (const auto& piece : tables_->raw.split(text)) {
    if (piece.id) {
      ids.push_back(*piece.id);
    } else {
      encode_piece(*tables_, piece.text, ids);
    }
  }
  if (add_special_tokens) ids.insert(ids.end(), tables_->after.begin(), tables_->after.end());
  return ids;
}

std::string Tokenizer::decode(std::span<const std::int64_t> ids, bool skip_special_tokens) const {
  ByteFallbackText text;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0) throw lockstep::Error{fmt::format("id {} at position {} is negative", ids[i], i)};
    if (skip_special_tokens && is_special(ids[i])) continue;
    if (ids[i] > UINT32_MAX) continue;
    if (const auto token = tables_->token(static_cast<std::uint32_t>(ids[i]))) {
      text.append(replace_all(*token, "\u2581", " "));
    }
  }
  return std::move(text).take();
}

std::optional<std::int64_t> Tokenizer::id_of(std::string_view token) const {
  const auto found = tables_->find(token);
  return found ? std::optional<std::int64_t>{*found} : std::nullopt;
}

std::optional<std::string> Tokenizer::token_of(std::int64_t id) const {
  if (id < 0 || id > UINT32_MAX) return std::nullopt;
  const auto found = tables_->token(static_cast<std::uint32_t>(id));
  return found ? std::optional<std::string>{*found} : std::nullopt;
}

bool Tokenizer::is_special(std::int64_t id) const {
  return id >= 0 && id <= UINT32_MAX && tables_->special.contains(static_cast<std::uint32_t>(id));
}

std::size_t Tokenizer::size() const noexcept { return tables_->model.vocabulary.size() + tables_->outside.size(); }

const std::filesystem::path& Tokenizer::file() const noexcept { return tables_->file; }

}  // namespace gemma4
