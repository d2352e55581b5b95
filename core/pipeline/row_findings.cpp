#include "pipeline/row_findings.hpp"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "pipeline/render_diagnostic.hpp"

namespace lockstep {
void RowFindings::add(const Matrix::Row& row, std::vector<Findings::Finding> findings) {
  ++looked_at_;
  for (auto& finding : findings) {
    const auto [known, is_new] = known_.emplace(render(finding.diagnostic, false), entries_.size());
    if (is_new) entries_.push_back({std::move(finding), {}, row.location});
    auto& rows = entries_[known->second].rows;
    if (rows.empty() || rows.back() != row.row.name) rows.push_back(row.row.name);
  }
}

bool RowFindings::full() const {
  constexpr std::size_t enough = 1000;
  return entries_.size() >= enough;
}

void RowFindings::move_to(Findings& findings) {
  constexpr std::size_t most_named = 3;
  for (auto& entry : entries_) {
    auto& rows = entry.rows;
    if (rows.size() < looked_at_ || looked_at_ < rows_) {
      const auto count = rows.size();
      const bool some_left_out = count > most_named;
      if (some_left_out) rows.resize(most_named);
      const auto names = fmt::format("{}{}", fmt::join(rows, "  "), some_left_out ? "  …" : "");
      entry.finding.diagnostic.notes.push_back({count == 1
                                                    ? fmt::format("in matrix row {}", names)
                                                    : fmt::format("in {} of {} matrix rows: {}", count, rows_, names),
                                                entry.row_location});
    }
    findings.add(std::move(entry.finding));
  }
  entries_.clear();
  known_.clear();
}

}  // namespace lockstep
