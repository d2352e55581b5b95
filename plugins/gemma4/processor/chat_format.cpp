#include <fmt/format.h>

#include <array>
#include <lockstep/diagnostic.hpp>
#include <lockstep/safetensors.hpp>

#include "processor/json_file.hpp"
#include "processor/prompt.hpp"
#include "processor/utf8.hpp"

namespace gemma4 {
namespace {

constexpr std::uintmax_t largest_template = 4u << 20;

struct KnownTemplate {
  std::string_view sha256;
  std::string_view name;
};

/// Templates whose rendering is the same as ChatFormat::render (recorded cases: tests/data/tokenizer).
constexpr std::array known_templates{
    KnownTemplate{"4d5406ade76607bd2009498b0ce23ce7ac0b4893e248d75846ec5504304f4a18", "pipelines/data/shapes-gemma4"},
};

/// What Python's str.strip, and with it the templates' `trim`, takes as white space: Unicode's and U+001C to U+001F.
bool is_python_space(char32_t c) noexcept { return is_white_space(c) || (c >= 0x1C && c <= 0x1F); }

std::string_view trim(std::string_view text) { return trim_end(trim_start(text, is_python_space), is_python_space); }

void check_utf8(std::string_view text, std::string_view what) {
  if (const auto at = first_invalid_utf8(text)) {
    throw lockstep::Error{fmt::format("{} is not valid UTF-8: byte 0x{:02X} at offset {}", what,
                                      static_cast<unsigned char>(text[*at]), *at),
                          "save or pass the prompt as UTF-8"};
  }
}

std::string_view text_of(const ContentItem& item) {
  switch (item.kind) {
    case ContentItem::Kind::text:
      return trim(item.text);
    case ContentItem::Kind::image:
      return "<|image|>";
    case ContentItem::Kind::audio:
      return "<|audio|>";
    case ContentItem::Kind::video:
      return "<|video|>";
  }
  return {};
}

std::string content_of(const Message& message) {
  if (const auto* text = std::get_if<std::string>(&message.content)) {
    check_utf8(*text, fmt::format("the {} message", message.role));
    return std::string{trim(*text)};
  }
  std::string result;
  for (const auto& item : std::get<std::vector<ContentItem>>(message.content)) {
    check_utf8(item.text, fmt::format("the {} message", message.role));
    result += text_of(item);
  }
  return result;
}

/// What a model turn said aloud: of each piece that ends with "<channel|>", the part before its first "<|channel>".
std::string without_thoughts(std::string_view text) {
  constexpr std::string_view closing = "<channel|>";
  std::string result;
  for (;;) {
    const auto end = text.find(closing);
    const auto piece = text.substr(0, end);
    result += piece.substr(0, piece.find("<|channel>"));
    if (end == std::string_view::npos) return std::string{trim(result)};
    text.remove_prefix(end + closing.size());
  }
}

std::string known_hashes() {
  std::string list;
  for (const auto& known : known_templates) {
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", known.sha256, known.name);
  }
  return list;
}

}  // namespace

ChatFormat ChatFormat::for_template(const std::filesystem::path& chat_template_jinja) {
  if (!std::filesystem::exists(chat_template_jinja)) {
    throw lockstep::Error{
        fmt::format("{}: no such file, and without it the chat format is not known", chat_template_jinja.string()),
        "prompt_format = \"raw\" takes the prompt as it is and needs no template"};
  }
  return for_template_text(read_file(chat_template_jinja, largest_template), chat_template_jinja.string());
}

ChatFormat ChatFormat::for_template_text(std::string_view text, std::string_view name) {
  auto sha256 = lockstep::sha256(text);
  for (const auto& known : known_templates) {
    if (known.sha256 == sha256) return ChatFormat{std::move(sha256)};
  }
  throw lockstep::Error{
      fmt::format("{}: a chat template with sha256 {} is not known; known: {}", name, sha256, known_hashes()),
      "prompt_format = \"raw\" takes the prompt as it is and needs no template"};
}

std::string ChatFormat::render(std::span<const Message> messages, const ChatOptions& options) const {
  std::string text = options.bos_token;
  const bool has_system = !messages.empty() && (messages[0].role == "system" || messages[0].role == "developer");
  if (has_system || options.enable_thinking) {
    text += "<|turn>system\n";
    if (options.enable_thinking) text += "<|think|>";
    if (has_system) {
      text += content_of(messages[0]);
      messages = messages.subspan(1);
    }
    text += "<turn|>\n";
  }
  for (const auto& message : messages) {
    const auto& role = message.role == "assistant" ? "model" : message.role;
    const auto content = content_of(message);
    text += "<|turn>" + role + "\n" + (role == "model" ? without_thoughts(content) : content) + "<turn|>\n";
  }
  if (options.add_generation_prompt) text += "<|turn>model\n";
  return text;
}

}  // namespace gemma4
