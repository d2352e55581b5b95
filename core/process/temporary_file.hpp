#pragma once

#include <filesystem>
#include <string_view>

#include <lockstep/export.hpp>

namespace lockstep {

/// A file without a name in the system's folder for temporary files, open for reading and writing: it is gone when the
/// last process that has it open is, however that ends.
class LOCKSTEP_API TemporaryFile {
 public:
  /// Throws Error if none can be made.
  TemporaryFile();
  /// One in memory, of `bytes` bytes, that no process can make shorter: reading its mapping never ends a process.
  /// Throws Error if none can be made.
  [[nodiscard]] static TemporaryFile in_memory(std::size_t bytes);
  /// Takes over a descriptor that another process handed on.
  explicit TemporaryFile(int descriptor) noexcept : descriptor_(descriptor) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// A path under which this process can open it.
  [[nodiscard]] std::filesystem::path path() const;
  /// Throws Error, for example when the disk is full.
  void write(std::string_view bytes, std::size_t offset);

 private:
  int descriptor_;
};

}  // namespace lockstep
