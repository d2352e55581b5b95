#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include <lockstep/export.hpp>

namespace lockstep {

/// A regular file mapped read-only for as long as this object lives. Nothing is read until it is touched.
/// Shared, never copied: a copy would unmap what others still look at.
class LOCKSTEP_API MappedFile {
 public:
  /// Throws Error if the file does not exist, is not a regular file or cannot be mapped.
  [[nodiscard]] static std::shared_ptr<const MappedFile> open(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// Empty for an empty file.
  [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }

 private:
  explicit MappedFile(std::string_view bytes) : bytes_(bytes) {}
  std::string_view bytes_;
};

}  // namespace lockstep
