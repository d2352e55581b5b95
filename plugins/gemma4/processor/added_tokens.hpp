#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gemma4 {

/// A token that is cut out of the text before anything else happens to it.
struct AddedToken {
  std::string content;
  std::uint32_t id = 0;
  bool special = false;     ///< decode may skip it
  bool normalized = false;  ///< looked for in the normalized text instead of the raw one
  bool lstrip = false;      ///< swallows white space on its left
  bool rstrip = false;      ///< swallows white space on its right
};

/// A stretch of text: an added token, or text that is still to be encoded.
struct Piece {
  std::string_view text;
  std::optional<std::uint32_t> id;
};

/// Finds added tokens: of several at one place the longest, and going on after its end.
class AddedTokenMatcher {
 public:
  /// Empty contents are not allowed; of two equal contents the first is kept.
  void add(std::string_view content, const AddedToken& token);

  [[nodiscard]] bool empty() const noexcept { return rules_.empty(); }

  /// The text in order, as views of it; pieces without id are never empty. The text must be valid UTF-8.
  /// Throws lockstep::Error where flags of two neighbouring tokens contradict each other.
  [[nodiscard]] std::vector<Piece> split(std::string_view text) const;

 private:
  struct Rule {
    std::uint32_t id;
    bool lstrip;
    bool rstrip;
  };
  struct Node {  // of a byte trie; children are a linked list, as few nodes have more than a handful
    std::uint32_t first_child = 0;
    std::uint32_t next_sibling = 0;
    std::uint32_t rule = 0;  // index + 1, 0: no token ends here
    char byte = 0;
  };
  struct Match {
    std::size_t length = 0;  // 0: none
    std::uint32_t rule = 0;
  };

  [[nodiscard]] std::uint32_t child(std::uint32_t node, char byte) const noexcept;
  [[nodiscard]] Match longest_at(std::string_view text) const noexcept;

  std::vector<Node> nodes_ = {Node{}};
  std::array<std::uint32_t, 256> roots_ = {};  // by first byte
  std::vector<Rule> rules_;
};

}  // namespace gemma4
