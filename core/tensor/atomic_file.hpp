#pragma once

#include <filesystem>
#include <string_view>

#include <lockstep/export.hpp>

namespace lockstep {

/// A file that appears whole or not at all: written beside its target, renamed over it at the end.
///
/// Without `commit`, also after an exception, the target stays as it was and nothing is left beside it. A target that
/// is a symbolic link is replaced where it points to; permissions of an existing target are kept.
/// ```cpp
/// AtomicFile file{"out.json"};
/// file.write(text);
/// file.commit();
/// ```
class LOCKSTEP_API AtomicFile {
 public:
  /// Throws Error if no file can be made in the target's folder.
  explicit AtomicFile(const std::filesystem::path& target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Appends. Throws Error, for example when the disk is full.
  void write(std::string_view bytes);
  /// Puts the file in its place. Throws Error. Nothing may follow.
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path partial_;
  int descriptor_ = -1;
};

/// Replaces `target` by `bytes` atomically; a target that exists and is no regular file (a device, a pipe) is written
/// to directly. Throws Error.
LOCKSTEP_API void write_file(const std::filesystem::path& target, std::string_view bytes);

/// The errno with which `write_file` would fail, as far as it can be told without a write; 0: none is known.
[[nodiscard]] LOCKSTEP_API int write_error(const std::filesystem::path& target) noexcept;

}  // namespace lockstep
