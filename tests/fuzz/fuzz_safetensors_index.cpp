#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <unistd.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/safetensors.hpp>

// Any index beside two good shards gives an Error or the tensors of the shards.

namespace {

/// The folder of one fuzzing process: shards one.safetensors (tensor a) and two.safetensors (tensor b), one byte each.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lockstep-fuzz-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
    save("one.safetensors", shard("a"));
    save("two.safetensors", shard("b"));
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path save(const std::string& name, std::string_view bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return path_ / name;
  }

 private:
  static std::string shard(const std::string& name) {
    const auto header = "{\"" + name + R"(":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
    return static_cast<char>(header.size()) + std::string(7, '\0') + header + "x";
  }
  std::filesystem::path path_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  const auto index = folder.save("model.safetensors.index.json", {reinterpret_cast<const char*>(data), size});
  try {
    const auto file = lockstep::SafetensorsFile::open(index);
    for (const auto& name : file.names())
      if (file.at(name).values<std::uint8_t>()[0] != 'x') std::abort();
  } catch (const lockstep::Error&) {
    return 0;
  }
  return 0;
}
