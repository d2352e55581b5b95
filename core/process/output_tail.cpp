#include "process/output_tail.hpp"

namespace lockstep {

void OutputTail::add(std::string_view piece) {
  size_ += static_cast<std::int64_t>(piece.size());
  kept_ += piece;
  // The limit and one byte before it, which tells whether a line starts there.
  if (kept_.size() > 2 * (limit_ + 1)) kept_.erase(0, kept_.size() - (limit_ + 1));
}

std::string OutputTail::text() const {
  if (static_cast<std::size_t>(size_) <= limit_) return kept_;
  const std::size_t start = kept_.size() - limit_;
  const auto line_end = kept_.find('\n', start - 1);
  const bool has_line = line_end != std::string::npos && line_end + 1 < kept_.size();
  return kept_.substr(has_line ? line_end + 1 : start);
}

}  // namespace lockstep
