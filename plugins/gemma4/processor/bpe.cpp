#include "processor/bpe.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

#include "processor/utf8.hpp"

namespace gemma4 {
namespace {

constexpr std::uint32_t none = UINT32_MAX;

/// A piece of the word, in a doubly linked list.
struct Symbol {
  std::uint32_t id;
  std::uint32_t previous;
  std::uint32_t next;
  bool merged_away = false;
};

struct Candidate {
  std::uint32_t rank;
  std::uint32_t position;  // of the left symbol
  std::uint32_t id;        // that the pair becomes

  // The queue serves its largest element first: the lowest rank, then the leftmost place.
  bool operator<(const Candidate& other) const {
    return std::tie(other.rank, other.position) < std::tie(rank, position);
  }
};

class Word {
 public:
  explicit Word(std::size_t expected) { symbols_.reserve(expected); }

  void add(std::uint32_t id) {
    const auto at = static_cast<std::uint32_t>(symbols_.size());
    if (at > 0) symbols_.back().next = at;
    symbols_.push_back({id, at == 0 ? none : at - 1, none});
  }

  void merge_all(const MergeTable& merges) {
    std::vector<Candidate> start;
    for (std::uint32_t i = 0; i + 1 < symbols_.size(); ++i) {
      if (const auto merge = merges.find(symbols_[i].id, symbols_[i + 1].id))
        start.push_back({merge->rank, i, merge->id});
    }
    std::priority_queue<Candidate> queue({}, std::move(start));
    while (!queue.empty()) {
      const auto top = queue.top();
      queue.pop();
      merge_if_current(top, merges, queue);
    }
  }

  void append_to(std::vector<std::int64_t>& ids) const {
    for (std::uint32_t at = symbols_.empty() ? none : 0; at != none; at = symbols_[at].next)
      ids.push_back(symbols_[at].id);
  }

 private:
  void merge_if_current(const Candidate& top, const MergeTable& merges, std::priority_queue<Candidate>& queue) {
    auto& left = symbols_[top.position];
    if (left.merged_away || left.next == none) return;
    auto& right = symbols_[left.next];
    // An entry is stale when one of its symbols has grown since: the pair then makes another token, or none.
    const auto merge = merges.find(left.id, right.id);
    if (!merge || merge->id != top.id) return;

    left.id = top.id;
    left.next = right.next;
    right.merged_away = true;
    if (left.next != none) symbols_[left.next].previous = top.position;
    if (left.previous != none) push(left.previous, merges, queue);
    if (left.next != none) push(top.position, merges, queue);
  }

  void push(std::uint32_t position, const MergeTable& merges, std::priority_queue<Candidate>& queue) const {
    const auto& left = symbols_[position];
    if (const auto merge = merges.find(left.id, symbols_[left.next].id)) queue.push({merge->rank, position, merge->id});
  }

  std::vector<Symbol> symbols_;
};

}  // namespace

MergeTable::MergeTable(std::size_t expected) {
  std::size_t slots = 16;
  while (3 * slots < 4 * expected) slots *= 2;
  slots_.resize(slots);
}

void MergeTable::set(std::uint32_t left, std::uint32_t right, Merge merge) {
  if (4 * (size_ + 1) > 3 * slots_.size()) grow();
  const auto pair = std::uint64_t{left} << 32 | right;
  auto& slot = slots_[slot_of(pair)];
  if (slot.pair != pair) ++size_;
  slot = {pair, merge};
}

std::optional<Merge> MergeTable::find(std::uint32_t left, std::uint32_t right) const noexcept {
  const auto pair = std::uint64_t{left} << 32 | right;
  const auto& slot = slots_[slot_of(pair)];
  return slot.pair == pair ? std::optional{slot.merge} : std::nullopt;
}

std::size_t MergeTable::slot_of(std::uint64_t pair) const noexcept {
  const auto mask = slots_.size() - 1;
  auto at = static_cast<std::size_t>((pair ^ pair >> 29) * 0x9E3779B97F4A7C15u >> 32) & mask;  // Fibonacci hashing
  while (slots_[at].pair != UINT64_MAX && slots_[at].pair != pair) at = (at + 1) & mask;
  return at;
}

void MergeTable::grow() {
  std::vector<Slot> old(2 * slots_.size());
  old.swap(slots_);
  for (const auto& slot : old) {
    if (slot.pair != UINT64_MAX) slots_[slot_of(slot.pair)] = slot;
  }
}

void BpeModel::append_word(std::string_view word, std::vector<std::int64_t>& ids) const {
  if (word.empty()) return;
  if (ignore_merges) {
    if (const auto id = vocabulary.find(word)) {
      ids.push_back(*id);
      return;
    }
  }
  Word symbols{word.size()};
  bool pending_unknown = false;
  for (std::size_t at = 0; at < word.size();) {
    const auto character = word.substr(at, std::max<std::size_t>(1, first_code_point(word.substr(at)).length));
    at += character.size();
    if (const auto id = vocabulary.find(character)) {
      if (pending_unknown) symbols.add(*unknown_id);
      pending_unknown = false;
      symbols.add(*id);
      continue;
    }
    const auto byte_id = [&](char c) { return bytes[static_cast<unsigned char>(c)]; };
    if (std::all_of(character.begin(), character.end(), [&](char c) { return byte_id(c).has_value(); })) {
      // A pending unknown token stays pending: in `tokenizers`, too, it comes after these bytes.
      for (const char c : character) symbols.add(*byte_id(c));
      continue;
    }
    if (!unknown_id) continue;
    if (pending_unknown && !fuse_unknown) symbols.add(*unknown_id);
    pending_unknown = true;
  }
  if (pending_unknown) symbols.add(*unknown_id);
  symbols.merge_all(merges);
  symbols.append_to(ids);
}

}  // namespace gemma4
