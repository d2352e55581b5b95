#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include <lockstep/diagnostic.hpp>
#include <lockstep/safetensors.hpp>

#include "safetensors/files.hpp"

// Any index beside two good shards gives an Error or the tensors of the shards.

namespace {

/// The folder of one fuzzing process: shards one.safetensors (tensor a) and two.safetensors (tensor b), one byte each.
std::filesystem::path index_with(std::string_view text) {
  static const TemporaryFolder folder;
  static const bool has_shards = [] {
    save(folder / "one.safetensors", safetensors_bytes(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1));
    save(folder / "two.safetensors", safetensors_bytes(R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1));
    return true;
  }();
  if (has_shards) save(folder / "model.safetensors.index.json", text);
  return folder / "model.safetensors.index.json";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto index = index_with({reinterpret_cast<const char*>(data), size});
  try {
    const auto file = lockstep::SafetensorsFile::open(index);
    for (const auto& name : file.names())
      if (file.at(name).values<std::uint8_t>()[0] != 0) std::abort();
  } catch (const lockstep::Error&) {
    return 0;
  }
  return 0;
}
