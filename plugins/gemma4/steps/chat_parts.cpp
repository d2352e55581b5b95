#include "steps/chat_parts.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include <lockstep/diagnostic.hpp>

namespace gemma4 {
namespace {

// Source: the code points for which Python's str.isspace() holds.
constexpr std::array<std::string_view, 29> spaces{
    " ",      "\t",     "\n",     "\v",     "\f",     "\r",     "\x1c",   "\x1d",   "\x1e",   "\x1f",
    "\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
    "\u2007", "\u2008", "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};

class Parts {
 public:
  explicit Parts(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  void token(std::string_view name) {
    const auto id = tokenizer_.id_of(name);
    if (!id) {
      throw lockstep::Error{"the tokenizer has no token '" + std::string(name) + "', which the chat format needs",
                            "set prompt_format to \"raw\""};
    }
    ids_.push_back(*id);
  }
  void text(const std::string& piece) { std::ranges::copy(tokenizer_.encode(piece), std::back_inserter(ids_)); }
  void turn(const std::string& role, std::string_view content) {
    token("<|turn>");
    text(role + "\n" + std::string(stripped(content)));
    token("<turn|>");
    text("\n");
  }
  [[nodiscard]] std::vector<std::int64_t> ids() && { return std::move(ids_); }

 private:
  const Tokenizer& tokenizer_;
  std::vector<std::int64_t> ids_;
};

}  // namespace

std::string_view stripped(std::string_view text) {
  const auto at_front = [&](std::string_view space) { return text.starts_with(space); };
  const auto at_back = [&](std::string_view space) { return text.ends_with(space); };
  for (auto space = std::ranges::find_if(spaces, at_front); space != spaces.end();
       space = std::ranges::find_if(spaces, at_front)) {
    text.remove_prefix(space->size());
  }
  for (auto space = std::ranges::find_if(spaces, at_back); space != spaces.end();
       space = std::ranges::find_if(spaces, at_back)) {
    text.remove_suffix(space->size());
  }
  return text;
}

std::vector<std::int64_t> ids_of_chat_parts(const Tokenizer& tokenizer, const std::optional<std::string>& system,
                                            const std::string& prompt) {
  Parts parts(tokenizer);
  parts.token("<bos>");
  if (system) parts.turn("system", *system);
  parts.turn("user", prompt);
  parts.token("<|turn>");
  parts.text("model\n");
  return std::move(parts).ids();
}

}  // namespace gemma4
