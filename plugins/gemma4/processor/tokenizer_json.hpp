#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "processor/vocabulary.hpp"

namespace gemma4 {

/// The pairs of model.merges in file order, as text.
class MergeList {
 public:
  void add(std::string_view left, std::string_view right);
  [[nodiscard]] std::size_t size() const noexcept { return lengths_.size(); }

  /// Calls `visit(left, right, joined)` for each pair.
  template <typename Visitor>
  void for_each(Visitor visit) const {
    std::size_t at = 0;
    for (const auto [left, right] : lengths_) {
      const auto joined = std::string_view{bytes_}.substr(at, std::size_t{left} + right);
      visit(joined.substr(0, left), joined.substr(left), joined);
      at += joined.size();
    }
  }

 private:
  std::string bytes_;
  std::vector<std::array<std::uint32_t, 2>> lengths_;
};

/// A tokenizer.json taken apart. What it means is not decided here.
struct TokenizerJson {
  nlohmann::json document;  ///< all but the two long lists: model.vocab and model.merges are empty in it
  Vocabulary vocabulary;
  MergeList merges;
};

/// Largest token id that is accepted: 64 times what the Gemma family uses, and far from exhausting memory.
inline constexpr std::uint32_t largest_token_id = (1u << 24) - 1;

/// Reads the file in one pass. Throws lockstep::Error that names file and field: JSON that is not valid, keys, tokens
/// or ids that occur twice, ids and merges of the wrong form.
[[nodiscard]] TokenizerJson read_tokenizer_json(const std::filesystem::path& file);

}  // namespace gemma4
