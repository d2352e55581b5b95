#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include <lockstep/diagnostic.hpp>
#include <lockstep/safetensors.hpp>

// Any bytes give an Error or tensors whose every byte can be read. The copy ends with the input, so that the address
// sanitizer sees one byte too many.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::shared_ptr<std::uint8_t[]> copy(new std::uint8_t[size]);
  if (size != 0) std::memcpy(copy.get(), data, size);
  const std::string_view bytes{reinterpret_cast<const char*>(copy.get()), size};
  try {
    const auto file = lockstep::SafetensorsFile::from_memory(copy, bytes, "fuzz");
    volatile unsigned sum = 0;
    for (const auto& name : file.names()) {
      if (!file.contains(name)) std::abort();
      const lockstep::Tensor& tensor = file.at(name);
      const auto count = static_cast<std::size_t>(tensor.numel()) * lockstep::element_size(tensor.dtype());
      for (std::size_t i = 0; i < count; ++i) sum = sum + static_cast<unsigned>(tensor.data()[i]);
    }
  } catch (const lockstep::Error&) {
    return 0;
  }
  return 0;
}
