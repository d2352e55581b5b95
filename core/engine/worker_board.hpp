#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "process/temporary_file.hpp"

namespace lockstep {

/// Memory that the process of a run and that of an isolated step look at together while the step runs: the interruption
/// goes one way, progress the other. Whatever a broken step writes into it is harmless.
class WorkerBoard {
 public:
  struct Progress {
    std::uint64_t count = 0;  ///< how often it was reported; 0: never
    std::int64_t done = 0;
    std::int64_t total = 0;
    std::string unit;
  };

  /// The memory of a new board, all zero. Throws Error.
  [[nodiscard]] static TemporaryFile memory();
  /// Maps what `memory` made. Throws Error.
  explicit WorkerBoard(const TemporaryFile& file);
  ~WorkerBoard();
  WorkerBoard(const WorkerBoard&) = delete;
  WorkerBoard& operator=(const WorkerBoard&) = delete;

  void interrupt() noexcept { page_->interrupted = true; }
  [[nodiscard]] const std::atomic<bool>* interrupted() const noexcept { return &page_->interrupted; }
  /// The step of WorkerRequest::steps that runs; none before the first.
  void running(std::size_t index) noexcept { page_->begun = static_cast<std::uint32_t>(index + 1); }
  [[nodiscard]] std::optional<std::size_t> running() const noexcept {
    const std::size_t begun = page_->begun;
    return begun == 0 ? std::nullopt : std::optional(begun - 1);
  }
  void progress(std::int64_t done, std::int64_t total, std::string_view unit) noexcept;
  /// The last report.
  [[nodiscard]] Progress progress() const;
  /// Why the process of the step could not hand back what came out; the step is not to blame.
  void cannot_answer(std::string_view why) noexcept;
  [[nodiscard]] std::string why_no_answer() const;

 private:
  static constexpr std::size_t unit_size = 64;
  static constexpr std::size_t trouble_size = 256;
  struct Page {
    std::atomic<bool> interrupted;
    std::atomic<std::uint32_t> begun;    ///< how many steps
    std::atomic<std::uint64_t> version;  ///< odd while a report is written
    std::atomic<std::int64_t> done;
    std::atomic<std::int64_t> total;
    std::array<std::atomic<char>, unit_size> unit;
    std::array<std::atomic<char>, trouble_size> trouble;
  };
  static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free &&
                    std::atomic<std::int64_t>::is_always_lock_free && std::atomic<char>::is_always_lock_free,
                "two processes use them");
  Page* page_;
};

}  // namespace lockstep
