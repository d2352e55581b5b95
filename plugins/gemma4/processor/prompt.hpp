#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <lockstep/export.hpp>
#include "processor/tokenizer.hpp"

namespace gemma4 {

/// One item of a message whose content is a list.
struct ContentItem {
  enum class Kind { text, image, audio, video };
  Kind kind = Kind::text;
  std::string text = {};  ///< of a text item
};

/// One turn of a conversation. Roles: "system" or "developer" (first message only, else written as they are), "user",
/// "model" or "assistant" (the same), or any other text.
struct Message {
  std::string role;
  std::variant<std::string, std::vector<ContentItem>> content;
};

struct ChatOptions {
  bool add_generation_prompt = true;  ///< end with "<|turn>model\n"
  bool enable_thinking = false;       ///< "<|think|>" in the system turn
  std::string bos_token = "<bos>";
};

/// The chat format of the E2B/E4B family, written in code: turns are `<|turn>role\n…<turn|>\n` after a bos token, texts
/// are trimmed, past thinking (`<|channel>…<channel|>`) is dropped from model turns, an image is a bare `<|image|>`.
///
/// As a checkpoint's template may say something else, an object exists only for a template whose hash is known to say
/// exactly this.
class LOCKSTEP_API ChatFormat {
 public:
  /// Throws lockstep::Error when the file is missing, or when its sha256 is not among the known ones (named, with the
  /// way out: prompt_format = "raw").
  static ChatFormat for_template(const std::filesystem::path& chat_template_jinja);

  /// The same for a template's text; `name` is how errors call it.
  static ChatFormat for_template_text(std::string_view text, std::string_view name);

  /// What transformers' `apply_chat_template(messages, tokenize=False)` gives.
  [[nodiscard]] std::string render(std::span<const Message> messages, const ChatOptions& options = {}) const;

  /// Lower-case hexadecimal, for the record of a run.
  [[nodiscard]] const std::string& template_sha256() const noexcept { return sha256_; }

 private:
  explicit ChatFormat(std::string sha256) : sha256_(std::move(sha256)) {}

  std::string sha256_;
};

/// The three tokens that stand for a picture in a text.
struct ImageTokens {
  std::string begin = "<|image>";
  std::string image = "<|image|>";
  std::string end = "<image|>";

  /// As the tokenizer writes the ids of config.json (boi_token_id, image_token_id, eoi_token_id).
  /// Throws lockstep::Error that names the id without a token.
  LOCKSTEP_API static ImageTokens from(const Tokenizer& tokenizer, std::int64_t begin_id, std::int64_t image_id,
                                       std::int64_t end_id);
};

/// How many pictures a text asks for.
[[nodiscard]] LOCKSTEP_API std::size_t count_images(std::string_view text, const ImageTokens& tokens = {});

/// Replaces the i-th `<|image|>` of the text by `<|image>`, soft_tokens[i] times `<|image|>`, `<image|>`.
/// Throws lockstep::Error when the number of placeholders is not that of the counts, or when a count is negative.
[[nodiscard]] LOCKSTEP_API std::string expand_images(std::string_view text, std::span<const std::int64_t> soft_tokens,
                                                     const ImageTokens& tokens = {});

}  // namespace gemma4
