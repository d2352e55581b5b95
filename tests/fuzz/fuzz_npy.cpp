#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include <lockstep/diagnostic.hpp>
#include <lockstep/tensor.hpp>

#include "tensor/npy.hpp"

// Any bytes give an Error or an array whose every element can be read. The copy ends with the input, so that the
// address sanitizer sees one byte too many.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::shared_ptr<std::uint8_t[]> copy(new std::uint8_t[size]);
  if (size != 0) std::memcpy(copy.get(), data, size);
  const std::string_view bytes{reinterpret_cast<const char*>(copy.get()), size};
  try {
    const auto array = lockstep::read_npy(copy, bytes, "fuzz");
    const auto count = static_cast<std::size_t>(array.numel()) * lockstep::element_size(array.dtype());
    if (count > size) std::abort();
    // In the order of the last axis, through the strides of the file's own order.
    const auto dense = array.contiguous();
    volatile unsigned sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum = sum + static_cast<unsigned>(dense.data()[i]);
  } catch (const lockstep::Error&) {
    return 0;
  }
  return 0;
}
