#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "process/temporary_file.hpp"

namespace lockstep::cli {

/// Output that is shown later, as a whole. It lies in a temporary file, so that rows which print without end do not
/// fill the memory; where none can be written, in memory.
class HeldOutput {
 public:
  void add(std::string_view text);
  void show(std::FILE* stream) const;

 private:
  std::optional<TemporaryFile> file_;
  std::size_t size_ = 0;  ///< of what is in the file
  std::string rest_;
};

}  // namespace lockstep::cli
