#pragma once

#include <filesystem>
#include <string_view>

#include <lockstep/export.hpp>

namespace lockstep {

/// A new folder in the system's folder for temporary files; removed with all that is in it, unless it is kept.
class LOCKSTEP_API ScratchFolder {
 public:
  /// `what` it is for, in its name: "lockstep-rows-x8Fq2a" for "rows". Throws Error if it cannot be made.
  explicit ScratchFolder(std::string_view what);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  void keep() noexcept { is_kept_ = true; }

 private:
  std::filesystem::path path_;
  bool is_kept_ = false;
};

}  // namespace lockstep
