#include "cli/held_output.hpp"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <lockstep/diagnostic.hpp>

namespace lockstep::cli {

void HeldOutput::add(std::string_view text) {
  constexpr std::size_t most_in_memory = 1 << 16;
  rest_ += text;
  if (rest_.size() < most_in_memory) return;
  try {
    if (!file_) file_.emplace();
    file_->write(rest_, size_);
  } catch (const Error&) {
    return;
  }
  size_ += rest_.size();
  rest_.clear();
}

void HeldOutput::show(std::FILE* stream) const {
  std::array<char, 1 << 16> part;
  for (std::size_t shown = 0; shown < size_;) {
    const auto size =
        pread(file_->descriptor(), part.data(), std::min(part.size(), size_ - shown), static_cast<off_t>(shown));
    if (size <= 0) break;
    std::fwrite(part.data(), 1, static_cast<std::size_t>(size), stream);
    shown += static_cast<std::size_t>(size);
  }
  std::fwrite(rest_.data(), 1, rest_.size(), stream);
}

}  // namespace lockstep::cli
