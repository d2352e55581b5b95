#include "engine/worker_board.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

namespace lockstep {

WorkerBoard::WorkerBoard(TemporaryFile& file) {
  file.resize(sizeof(Page));
  void* const memory = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), 0);
  if (memory == MAP_FAILED) throw Error{fmt::format("no memory can be shared: {}", std::strerror(errno))};
  page_ = static_cast<Page*>(memory);
}

WorkerBoard::~WorkerBoard() { ::munmap(page_, sizeof(Page)); }

void WorkerBoard::progress(std::int64_t done, std::int64_t total, std::string_view unit) noexcept {
  ++page_->version;
  page_->done = done;
  page_->total = total;
  const auto size = std::min(unit.size(), unit_size - 1);
  for (std::size_t i = 0; i < size; ++i) page_->unit[i] = unit[i];
  page_->unit[size] = '\0';
  ++page_->version;
}

WorkerBoard::Progress WorkerBoard::progress() const {
  constexpr int attempts = 100;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const auto version = page_->version.load();
    if (version % 2 != 0) continue;
    Progress progress{.count = version / 2, .done = page_->done, .total = page_->total, .unit = {}};
    for (const auto& c : page_->unit) {
      if (c == '\0') break;
      progress.unit += c;
    }
    if (page_->version == version) return progress;
  }
  return {};
}

}  // namespace lockstep
