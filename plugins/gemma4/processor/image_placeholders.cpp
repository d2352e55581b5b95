#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

#include "processor/prompt.hpp"

namespace gemma4 {
namespace {

constexpr std::int64_t largest_count = 1 << 20;  // a picture of the Gemma family has at most 1120 soft tokens

void append_image(std::string& text, std::int64_t soft_tokens, const ImageTokens& tokens) {
  text += tokens.begin;
  for (std::int64_t i = 0; i < soft_tokens; ++i) text += tokens.image;
  text += tokens.end;
}

}  // namespace

ImageTokens ImageTokens::from(const Tokenizer& tokenizer, std::int64_t begin_id, std::int64_t image_id,
                              std::int64_t end_id) {
  const auto token = [&](const char* name, std::int64_t id) {
    if (auto found = tokenizer.token_of(id)) return *std::move(found);
    throw lockstep::Error{fmt::format("{}: there is no token with the id {} ({})", tokenizer.file().string(), id, name),
                          "config.json and tokenizer.json must come from the same checkpoint"};
  };
  return {token("boi_token_id", begin_id), token("image_token_id", image_id), token("eoi_token_id", end_id)};
}

std::size_t count_images(std::string_view text, const ImageTokens& tokens) {
  if (tokens.image.empty()) throw lockstep::Error{"the image token is an empty text"};
  std::size_t count = 0;
  for (auto at = text.find(tokens.image); at != std::string_view::npos;
       at = text.find(tokens.image, at + tokens.image.size())) {
    ++count;
  }
  return count;
}

std::string expand_images(std::string_view text, std::span<const std::int64_t> soft_tokens, const ImageTokens& tokens) {
  const auto asked = count_images(text, tokens);
  if (asked != soft_tokens.size()) {
    throw lockstep::Error{fmt::format("the prompt has {} {} placeholders, but there are {} pictures", asked,
                                      tokens.image, soft_tokens.size()),
                          fmt::format("write {} once for each picture", tokens.image)};
  }
  std::string result;
  for (std::size_t i = 0; i < soft_tokens.size(); ++i) {
    if (soft_tokens[i] < 0 || soft_tokens[i] > largest_count) {
      throw lockstep::Error{
          fmt::format("picture {} has {} soft tokens, expected 0 to {}", i, soft_tokens[i], largest_count)};
    }
    const auto at = text.find(tokens.image);
    result += text.substr(0, at);
    append_image(result, soft_tokens[i], tokens);
    text.remove_prefix(at + tokens.image.size());
  }
  return result.append(text);
}

}  // namespace gemma4
