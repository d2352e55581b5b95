#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gemma4 {

/// Tokens by id and ids by token. All texts lie in one block of memory: a quarter of a million tokens load in
/// milliseconds.
class Vocabulary {
 public:
  enum class Added { yes, token_exists, id_exists };

  Added add(std::string_view token, std::uint32_t id);

  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view token) const noexcept;
  [[nodiscard]] std::optional<std::string_view> token(std::uint32_t id) const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  static constexpr std::uint32_t unused = UINT32_MAX;
  struct Span {
    std::uint32_t offset = 0;
    std::uint32_t length = unused;
  };
  struct Slot {  // repeats the span: one cache miss less for each lookup
    std::uint32_t hash = 0;
    std::uint32_t id = unused;
    Span span;
  };

  /// The slot that holds the token, or the free one where it would go.
  [[nodiscard]] std::size_t slot_of(std::string_view token, std::uint32_t hash) const noexcept;
  void grow();
  [[nodiscard]] std::string_view text(Span span) const noexcept {
    return std::string_view{bytes_}.substr(span.offset, span.length);
  }

  std::string bytes_;
  std::vector<Span> spans_;  // by id
  std::vector<Slot> slots_;  // open addressing, a power of two, at most three quarters full
  std::size_t size_ = 0;
};

}  // namespace gemma4
