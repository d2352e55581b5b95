#include "processor/vocabulary.hpp"

#include <functional>

namespace gemma4 {
namespace {

std::uint32_t hash_of(std::string_view token) noexcept {
  const std::uint64_t hash = std::hash<std::string_view>{}(token);
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

}  // namespace

Vocabulary::Added Vocabulary::add(std::string_view token, std::uint32_t id) {
  if (4 * (size_ + 1) > 3 * slots_.size()) grow();
  const auto hash = hash_of(token);
  auto& slot = slots_[slot_of(token, hash)];
  if (slot.id != unused) return Added::token_exists;
  if (id < spans_.size() && spans_[id].length != unused) return Added::id_exists;
  if (id >= spans_.size()) spans_.resize(std::size_t{id} + 1);
  spans_[id] = {static_cast<std::uint32_t>(bytes_.size()), static_cast<std::uint32_t>(token.size())};
  bytes_.append(token);
  slot = {hash, id, spans_[id]};
  ++size_;
  return Added::yes;
}

std::optional<std::uint32_t> Vocabulary::find(std::string_view token) const noexcept {
  if (slots_.empty()) return std::nullopt;
  const auto& slot = slots_[slot_of(token, hash_of(token))];
  return slot.id == unused ? std::nullopt : std::optional{slot.id};
}

std::optional<std::string_view> Vocabulary::token(std::uint32_t id) const noexcept {
  if (id >= spans_.size() || spans_[id].length == unused) return std::nullopt;
  return text(spans_[id]);
}

std::size_t Vocabulary::slot_of(std::string_view token, std::uint32_t hash) const noexcept {
  const auto mask = slots_.size() - 1;
  for (auto at = hash & mask;; at = (at + 1) & mask) {
    const auto& slot = slots_[at];
    if (slot.id == unused) return at;
    if (slot.hash == hash && text(slot.span) == token) return at;
  }
}

void Vocabulary::grow() {
  std::vector<Slot> old(slots_.empty() ? 1024 : 2 * slots_.size());
  old.swap(slots_);
  const auto mask = slots_.size() - 1;
  for (const auto& slot : old) {
    if (slot.id == unused) continue;
    auto at = slot.hash & mask;
    while (slots_[at].id != unused) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

}  // namespace gemma4
