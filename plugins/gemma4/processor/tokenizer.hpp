#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <lockstep/export.hpp>

#include "checkpoint/checkpoint.hpp"

namespace gemma4 {

/// The byte-fallback BPE tokenizer of a Gemma checkpoint, read from its `tokenizer.json`.
///
/// Gives the ids and texts of Hugging Face's `tokenizers` library for the files of the Gemma family. A file that asks
/// for anything else (another normalizer, decoder, model, whole-word tokens, …) is refused by name, never approximated.
/// Immutable; copies share the tables and may be used by several threads.
///
/// ```cpp
/// const auto tokenizer = gemma4::Tokenizer::from_files(folder / "tokenizer.json", folder / "tokenizer_config.json");
/// const auto ids = tokenizer.encode("<bos><|turn>user\nHello<turn|>\n");
/// ```
class LOCKSTEP_API Tokenizer {
 public:
  /// What the `tokenizers` library makes of `tokenizer.json` alone.
  /// Throws lockstep::Error that names the file and the field when it is malformed or asks for what is not supported.
  static Tokenizer from_file(const std::filesystem::path& tokenizer_json);

  /// What transformers makes of a checkpoint folder: the named tokens of `tokenizer_config.json` ("bos_token",
  /// "mask_token", "extra_special_tokens", …) are special too, so decode can skip them.
  static Tokenizer from_files(const std::filesystem::path& tokenizer_json,
                              const std::filesystem::path& tokenizer_config_json);
  /// The same for an opened checkpoint; tokenizer_config.json may be missing.
  static Tokenizer from_checkpoint(const Checkpoint& checkpoint);

  /// Ids of a UTF-8 text. Added tokens ("<bos>", "<|image|>") are recognised in the text. With `add_special_tokens`
  /// the file's post-processor adds its own around them (for Gemma 4: none; a chat prompt writes "<bos>" itself).
  /// Throws lockstep::Error with the byte offset when the text is not valid UTF-8.
  [[nodiscard]] std::vector<std::int64_t> encode(std::string_view text, bool add_special_tokens = false) const;

  /// The text of a list of ids. Bytes that form no valid UTF-8 become U+FFFD, one for each byte of their run.
  /// Ids without a token are left out, as `tokenizers` does; negative ids are an Error.
  [[nodiscard]] std::string decode(std::span<const std::int64_t> ids, bool skip_special_tokens = false) const;

  /// The id of a token, given as it is written in the vocabulary ("\u2581red", "<0x41>", "<bos>").
  [[nodiscard]] std::optional<std::int64_t> id_of(std::string_view token) const;

  /// The token of an id, as it is written in the vocabulary; nothing for an id that the vocabulary does not use.
  [[nodiscard]] std::optional<std::string> token_of(std::int64_t id) const;

  /// True if decode leaves this id out when it skips special tokens.
  [[nodiscard]] bool is_special(std::int64_t id) const;

  /// Number of tokens, added ones included.
  [[nodiscard]] std::size_t size() const noexcept;

  /// The file that it was read from.
  [[nodiscard]] const std::filesystem::path& file() const noexcept;

  struct Tables;

 private:
  explicit Tokenizer(std::shared_ptr<const Tables> tables);

  std::shared_ptr<const Tables> tables_;
};

}  // namespace gemma4
