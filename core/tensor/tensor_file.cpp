#include <lockstep/safetensors.hpp>

#include "tensor/mapped_file.hpp"
#include "tensor/npy.hpp"

namespace lockstep {

NamedTensors read_tensor_file(const std::filesystem::path& path) {
  NamedTensors tensors;
  if (path.extension() == ".npy") {
    const auto file = MappedFile::open(path);
    tensors.add(path.stem().string(), read_npy(file, file->bytes(), path.string()));
    return tensors;
  }
  const auto file = SafetensorsFile::open(path);
  for (const auto& name : file.names()) tensors.add(name, file.at(name));
  return tensors;
}

}  // namespace lockstep
