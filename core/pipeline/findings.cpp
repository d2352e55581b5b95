#include "pipeline/findings.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace lockstep {
namespace {

constexpr std::size_t limit = 1000;  // a generated file can be wrong in every line

}  // namespace

void Findings::add_source(const std::shared_ptr<const SourceText>& source) {
  ranks_.emplace(source.get(), ranks_.size());
}

bool Findings::full() const noexcept { return findings_.size() >= limit; }

Diagnostic& Findings::error(std::string_view code, Location location, std::string message) {
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.message = std::move(message);
  diagnostic.location = std::move(location);
  if (full()) {
    ++dropped_;
    scratch_ = std::move(diagnostic);
    return scratch_;
  }
  return findings_.emplace_back(Finding{std::move(diagnostic)}).diagnostic;
}

Diagnostic& Findings::error(std::string_view code, const Node& node, std::string message) {
  auto& diagnostic = error(code, node.location, std::move(message));
  if (node.used_at.source) diagnostic.notes.push_back({"used here", node.used_at});
  return diagnostic;
}

void Findings::unloadable(Diagnostic diagnostic) { add({std::move(diagnostic), true}); }

void Findings::add(Finding finding) {
  if (finding.unloadable) ++unloadable_;
  if (full())
    ++dropped_;
  else
    findings_.push_back(std::move(finding));
}

std::vector<Findings::Finding> Findings::take() { return std::exchange(findings_, {}); }

std::vector<Diagnostic> Findings::take_sorted() {
  const auto place = [this](const Diagnostic& diagnostic) {
    const auto rank = ranks_.find(diagnostic.location.source.get());
    return std::tuple(rank == ranks_.end() ? ranks_.size() : rank->second, diagnostic.location.line,
                      diagnostic.location.column);
  };
  std::vector<Diagnostic> result;
  for (auto& finding : take()) result.push_back(std::move(finding.diagnostic));
  std::ranges::stable_sort(result, {}, place);
  if (const auto dropped = std::exchange(dropped_, 0); dropped > 0) {
    result.back().notes.push_back({fmt::format("{} more errors are not shown", dropped)});
  }
  return result;
}

}  // namespace lockstep
