#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lockstep/tensor.hpp>

namespace lockstep {

/// A safetensors file, mapped read-only; tensors are views that keep the map alive.
///
/// Opening reads the header and checks all of it; a malformed file is an Error that names the file, the tensor and what
/// was found. Data is not touched until it is read. Tensors need not be aligned to their element size.
/// ```cpp
/// const auto file = SafetensorsFile::open("model.safetensors");
/// const Tensor weight = file.at("model.norm.weight");
/// ```
class LOCKSTEP_API SafetensorsFile {
 public:
  /// One file, or a sharded checkpoint given by its `….safetensors.index.json`, seen as one.
  [[nodiscard]] static SafetensorsFile open(const std::filesystem::path& path);
  /// The same checks over bytes in memory; `name` stands in messages. Used by fuzzing and tests.
  [[nodiscard]] static SafetensorsFile from_memory(std::shared_ptr<const void> owner, std::string_view bytes,
                                                   std::string name);

  [[nodiscard]] const std::filesystem::path& path() const noexcept;
  /// In the order of the file(s).
  [[nodiscard]] const std::vector<std::string>& names() const noexcept;
  [[nodiscard]] bool contains(std::string_view name) const noexcept;
  /// Throws Error with the nearest name if there is no such tensor.
  [[nodiscard]] const Tensor& at(std::string_view name) const;
  /// `__metadata__`, empty if there is none.
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const noexcept;

 private:
  struct Contents;
  explicit SafetensorsFile(std::shared_ptr<const Contents> contents);
  std::shared_ptr<const Contents> contents_;
};

/// All tensors of a file: `.safetensors`, `….safetensors.index.json` or `.npy`, told apart by the name. A `.npy` file
/// (format versions 1 to 3; every dtype that DType has, either byte order, C and Fortran order) holds one tensor, which
/// is called as the file is, without `.npy`. Mapped where the file's bytes are the tensor's. Throws Error.
[[nodiscard]] LOCKSTEP_API NamedTensors read_tensor_file(const std::filesystem::path& path);

/// Writes `tensors` (names unique) so that each starts at a multiple of 64 bytes of the file, to a new file that then
/// replaces `path`: a reader sees the old file or the whole new one. Throws Error and leaves no partial file.
LOCKSTEP_API void write_safetensors(const std::filesystem::path& path,
                                    const std::vector<std::pair<std::string, Tensor>>& tensors,
                                    const std::map<std::string, std::string>& metadata = {});

/// SHA-256 as 64 lower-case hex digits: by it checkpoints, recordings and pipelines are known again.
[[nodiscard]] LOCKSTEP_API std::string sha256(std::span<const std::byte> bytes);
[[nodiscard]] LOCKSTEP_API std::string sha256(std::string_view bytes);
/// Of a file's content, read in blocks. Throws Error if it cannot be read.
[[nodiscard]] LOCKSTEP_API std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace lockstep
