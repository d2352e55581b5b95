#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "processor/vocabulary.hpp"

namespace gemma4 {

/// What two neighbouring tokens become, and how early: the lowest rank of a word is merged first.
struct Merge {
  std::uint32_t rank = 0;
  std::uint32_t id = 0;
};

/// Merges by pair of token ids; of a pair that is set twice the later one counts.
class MergeTable {
 public:
  explicit MergeTable(std::size_t expected = 0);

  void set(std::uint32_t left, std::uint32_t right, Merge merge);
  [[nodiscard]] std::optional<Merge> find(std::uint32_t left, std::uint32_t right) const noexcept;

 private:
  struct Slot {
    std::uint64_t pair = UINT64_MAX;
    Merge merge;
  };
  [[nodiscard]] std::size_t slot_of(std::uint64_t pair) const noexcept;
  void grow();

  std::vector<Slot> slots_;  // open addressing, a power of two, at most three quarters full
  std::size_t size_ = 0;
};

/// A byte-pair-encoding model, with the meaning that the `tokenizers` library gives each option.
struct BpeModel {
  Vocabulary vocabulary;
  MergeTable merges;
  std::optional<std::uint32_t> unknown_id;                   ///< without it, unknown characters are dropped
  bool fuse_unknown = false;                                 ///< neighbouring unknown characters become one token
  bool ignore_merges = false;                                ///< a word that is a token is not taken apart
  std::array<std::optional<std::uint32_t>, 256> bytes = {};  ///< "<0x00>" …; all empty without byte fallback

  /// Appends the ids of one word (valid UTF-8, normalized). Time is O(n log n): the text between two added tokens is
  /// a single word in the Gemma family.
  void append_word(std::string_view word, std::vector<std::int64_t>& ids) const;
};

}  // namespace gemma4
