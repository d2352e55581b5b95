#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <lockstep/export.hpp>

namespace lockstep {

/// Keeps the end of a text that comes in pieces, in bounded memory.
class LOCKSTEP_API OutputTail {
 public:
  explicit OutputTail(std::size_t limit) : limit_(limit) {}

  void add(std::string_view piece);
  [[nodiscard]] std::int64_t size() const noexcept { return size_; }
  /// At most `limit` bytes; if something was left out, from the start of a line, if one starts there.
  [[nodiscard]] std::string text() const;

 private:
  std::size_t limit_;
  std::int64_t size_ = 0;
  std::string kept_;
};

}  // namespace lockstep
