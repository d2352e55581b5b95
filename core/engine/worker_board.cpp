#include "engine/worker_board.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

namespace lockstep {

namespace {

template <class Characters>
void put(std::string_view text, Characters& place) noexcept {
  const auto size = std::min(text.size(), place.size() - 1);
  for (std::size_t i = 0; i < size; ++i) place[i] = text[i];
  place[size] = '\0';
}

template <class Characters>
std::string text_in(const Characters& place) {
  std::string text;
  for (const auto& c : place) {
    if (c == '\0') break;
    text += c;
  }
  return text;
}

}  // namespace

TemporaryFile WorkerBoard::memory() { return TemporaryFile::in_memory(sizeof(Page)); }

WorkerBoard::WorkerBoard(const TemporaryFile& file) {
  void* const memory = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), 0);
  if (memory == MAP_FAILED) throw Error{fmt::format("no memory can be shared: {}", std::strerror(errno))};
  page_ = static_cast<Page*>(memory);
}

WorkerBoard::~WorkerBoard() { ::munmap(page_, sizeof(Page)); }

void WorkerBoard::progress(std::int64_t done, std::int64_t total, std::string_view unit) noexcept {
  ++page_->version;
  page_->done = done;
  page_->total = total;
  put(unit, page_->unit);
  ++page_->version;
}

WorkerBoard::Progress WorkerBoard::progress() const {
  constexpr int attempts = 100;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const auto version = page_->version.load();
    if (version % 2 != 0) continue;
    Progress progress{.count = version / 2, .done = page_->done, .total = page_->total, .unit = text_in(page_->unit)};
    if (page_->version == version) return progress;
  }
  return {};
}

void WorkerBoard::cannot_answer(std::string_view why) noexcept { put(why, page_->trouble); }

std::string WorkerBoard::why_no_answer() const { return text_in(page_->trouble); }

}  // namespace lockstep
