#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <lockstep/safetensors.hpp>

namespace lockstep {

/// What one file or all shards of a checkpoint hold; built by `add`, then immutable.
struct SafetensorsFile::Contents {
  std::filesystem::path path;
  std::vector<std::string> names;
  std::vector<Tensor> tensors;  ///< beside `names`
  std::map<std::string, std::string> metadata;
  std::unordered_map<std::string, std::size_t> index;

  /// False if there is a tensor of this name already.
  bool add(std::string name, Tensor tensor);
  /// Views of all tensors in `bytes`, which `owner` keeps alive. Throws Error.
  static Contents read(std::shared_ptr<const void> owner, std::string_view bytes, std::filesystem::path path);
  /// All shards that the index names. Throws Error.
  static Contents read_sharded(const std::filesystem::path& index);
};

}  // namespace lockstep
