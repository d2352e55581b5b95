#include "processor/added_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <lockstep/diagnostic.hpp>

#include "processor/utf8.hpp"

namespace gemma4 {

void AddedTokenMatcher::add(std::string_view content, const AddedToken& token) {
  std::uint32_t node = 0;
  for (const char byte : content) {
    auto next = child(node, byte);
    if (next == 0) {
      next = static_cast<std::uint32_t>(nodes_.size());
      auto& root = roots_[static_cast<unsigned char>(byte)];
      nodes_.push_back({.next_sibling = node == 0 ? 0 : nodes_[node].first_child, .byte = byte});
      (node == 0 ? root : nodes_[node].first_child) = next;
    }
    node = next;
  }
  if (nodes_[node].rule != 0) return;
  rules_.push_back({token.id, token.lstrip, token.rstrip});
  nodes_[node].rule = static_cast<std::uint32_t>(rules_.size());
}

std::uint32_t AddedTokenMatcher::child(std::uint32_t node, char byte) const noexcept {
  if (node == 0) return roots_[static_cast<unsigned char>(byte)];
  auto at = nodes_[node].first_child;
  while (at != 0 && nodes_[at].byte != byte) at = nodes_[at].next_sibling;
  return at;
}

AddedTokenMatcher::Match AddedTokenMatcher::longest_at(std::string_view text) const noexcept {
  Match match;
  std::uint32_t node = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    node = child(node, text[i]);
    if (node == 0) break;
    if (nodes_[node].rule != 0) match = {i + 1, nodes_[node].rule - 1};
  }
  return match;
}

std::vector<Piece> AddedTokenMatcher::split(std::string_view text) const {
  std::vector<Piece> pieces;
  std::size_t done = 0;  // end of the last piece
  for (std::size_t at = 0; at < text.size();) {
    const auto match = longest_at(text.substr(at));
    if (match.length == 0) {
      ++at;
      continue;
    }
    const auto& rule = rules_[match.rule];
    auto start = at;
    auto stop = at + match.length;
    at = stop;
    // White space that a token swallows on its right can hold the next token, which `tokenizers` emits all the same.
    if (rule.lstrip) start = std::max(done, trim_end(text.substr(0, start), is_white_space).size());
    if (rule.rstrip) stop = text.size() - trim_start(text.substr(stop), is_white_space).size();
    if (done < start) pieces.push_back({text.substr(done, start - done), std::nullopt});
    if (start > stop) {
      throw lockstep::Error{
          fmt::format("byte {} of the text: an added token with lstrip lies in white space that the one before "
                      "it has swallowed (the tokenizers library fails here, too)",
                      at - match.length)};
    }
    pieces.push_back({text.substr(start, stop - start), rule.id});
    done = stop;
  }
  if (done < text.size()) pieces.push_back({text.substr(done), std::nullopt});
  return pieces;
}

}  // namespace gemma4
