#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include <lockstep/tensor.hpp>

/// Tensors by closed form, in integers only: the same as `generate` of tools/record_check_cases.py.
namespace generator {

inline std::uint64_t mix(std::uint64_t i, std::uint64_t seed) {
  std::uint64_t z = i * 0x9E3779B97F4A7C15U + seed * 0xD1B54A32D192ED03U + 1;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

struct Shape {
  unsigned mantissa;
  unsigned bias;
};

inline Shape shape_of(lockstep::DType dtype) {
  using lockstep::DType;
  switch (dtype) {
    case DType::bfloat16:
      return {7, 127};
    case DType::float16:
      return {10, 15};
    case DType::float32:
      return {23, 127};
    case DType::float64:
      return {52, 1023};
    case DType::float8_e4m3fn:
      return {3, 7};
    case DType::float8_e5m2:
      return {2, 15};
    default:
      return {0, 0};
  }
}

enum class Side { expected, actual };

/// Floats of 2^-3 .. 2^4 of either sign; one actual element in `change_every` (0: none) differs a little.
inline std::uint64_t bits(lockstep::DType dtype, std::uint64_t i, std::uint64_t seed, std::uint64_t change_every,
                          Side side) {
  const std::uint64_t h = mix(i, seed);
  const auto width = static_cast<unsigned>(8 * lockstep::element_size(dtype));
  const auto [mantissa, bias] = shape_of(dtype);
  const bool boolean = dtype == lockstep::DType::boolean;
  std::uint64_t value = 0;
  if (mantissa > 0) {
    value = ((h & 1U) << (width - 1)) | ((bias - 3 + (h >> 1) % 8) << mantissa) |
            ((h >> 8) & ((std::uint64_t{1} << mantissa) - 1));
  } else {
    value = boolean ? h & 1U : h & ((std::uint64_t{1} << (width - 1)) - 1);
  }
  if (side == Side::actual && change_every != 0 && mix(i, seed + 1) % change_every == 0) {
    value ^= boolean ? 1U : 1 + (mix(i, seed + 2) & 3U) % 3;
  }
  return value;
}

inline lockstep::Tensor tensor(lockstep::DType dtype, std::vector<std::int64_t> sizes, std::uint64_t seed,
                               std::uint64_t change_every, Side side) {
  std::int64_t count = 1;
  for (const auto n : sizes) count *= n;
  const std::size_t width = lockstep::element_size(dtype);
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * width);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const std::uint64_t value = bits(dtype, i, seed, change_every, side);
    std::memcpy(bytes.data() + i * width, &value, width);  // little-endian, as all that Lockstep supports
  }
  return lockstep::Tensor::copy_of(bytes, dtype, std::move(sizes));
}

}  // namespace generator
