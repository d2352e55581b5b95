#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <vector>

#include "processor/added_tokens.hpp"
#include "processor/bpe.hpp"
#include "processor/tokenizer.hpp"

namespace gemma4 {

/// Everything that encode and decode look up.
struct Tokenizer::Tables {
  std::filesystem::path file;
  BpeModel model;
  std::vector<AddedToken> added;  ///< in file order; every content and id once
  Vocabulary outside;             ///< added tokens that the model's vocabulary does not hold
  std::set<std::uint32_t> special;
  AddedTokenMatcher raw;                    ///< tokens looked for in the text as given
  AddedTokenMatcher normalized;             ///< tokens looked for after normalization
  std::vector<std::int64_t> before, after;  ///< what the post-processor puts around a text

  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view token) const noexcept;
  [[nodiscard]] std::optional<std::string_view> token(std::uint32_t id) const noexcept;
};

/// Tables of a tokenizer.json, without the matchers. Refuses by name whatever is not implemented.
[[nodiscard]] Tokenizer::Tables read_tables(const std::filesystem::path& tokenizer_json);

/// Adds what transformers takes from tokenizer_config.json; the matchers must not be built yet.
void apply_tokenizer_config(Tokenizer::Tables& tables, const std::filesystem::path& tokenizer_config_json);

/// Builds the matchers and the set of special ids from `added`.
void finish(Tokenizer::Tables& tables);

/// The normalizer of the Gemma family: every space becomes U+2581.
[[nodiscard]] std::string normalize(std::string_view text);

}  // namespace gemma4
