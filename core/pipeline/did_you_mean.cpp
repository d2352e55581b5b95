#include <lockstep/diagnostic.hpp>

#include <algorithm>
#include <cctype>
#include <span>

namespace lockstep {
namespace {

constexpr std::size_t most_candidates = 10'000;
constexpr std::size_t longest_name = 200;  // nobody mistypes more than that; keeps hostile input cheap

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

/// Optimal string alignment distance, or `bound` + 1 as soon as it must exceed `bound`.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t bound) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > bound) return bound + 1;
  std::vector<std::size_t> two_back(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    auto least = current[0];
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({replaced, previous[j] + 1, current[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], two_back[j - 2] + 1);
      }
      least = std::min(least, current[j]);
    }
    if (least > bound) return bound + 1;
    std::swap(two_back, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& candidates) {
  if (wrong.empty() || wrong.size() > longest_name) return {};
  const auto word = lower(wrong);
  auto bound = std::min((word.size() + 2) / 3, word.size() - 1);
  const std::string* best = nullptr;
  for (const auto& candidate : std::span(candidates).first(std::min(candidates.size(), most_candidates))) {
    if (candidate.size() > word.size() + bound || word.size() > candidate.size() + bound) continue;
    const auto distance = edit_distance(word, lower(candidate), bound);
    if (distance > bound) continue;
    best = &candidate;
    if (distance == 0) break;
    bound = distance - 1;
  }
  return best ? *best : std::string{};
}

}  // namespace lockstep
