#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gemma4 {

/// Joins tokens to a text. A run of byte tokens ("<0xE2>") becomes the characters that its bytes form or, if the run as
/// a whole is not valid UTF-8, U+FFFD once for each byte.
class ByteFallbackText {
 public:
  void append(std::string_view token);
  [[nodiscard]] std::string take() &&;

 private:
  void flush();

  std::string text_;
  std::string bytes_;  // the run that is open
};

}  // namespace gemma4
