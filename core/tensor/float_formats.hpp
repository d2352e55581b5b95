#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <lockstep/tensor.hpp>

namespace lockstep {

/// The 16, 32 and 64 bit formats: storage bits, the type that PyTorch computes in, decoding, and rounding back to the
/// format (to nearest, ties to even; the result stays in the compute type). `infinity_bits` is the magnitude of
/// infinity.
struct BFloat16 {
  using Bits = std::uint16_t;
  using Compute = float;
  static constexpr DType storage_dtype = DType::bfloat16;
  static constexpr Bits infinity_bits = 0x7f80;

  static Compute decode(Bits bits) noexcept { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
  static Compute round(Compute value) noexcept {
    if (std::isnan(value)) return value;
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return std::bit_cast<float>((bits + 0x7fffU + ((bits >> 16) & 1U)) & 0xffff0000U);
  }
};

struct Float16 {
  using Bits = std::uint16_t;
  using Compute = float;
  static constexpr DType storage_dtype = DType::float16;
  static constexpr Bits infinity_bits = 0x7c00;

  static Compute decode(Bits bits) noexcept {
    const std::uint32_t sign = (bits & 0x8000U) << 16;
    const std::uint32_t magnitude = bits & 0x7fffU;
    if (magnitude >= infinity_bits) return std::bit_cast<float>(sign | 0x7f800000U | ((magnitude & 0x3ffU) << 13));
    const float value = magnitude < 0x400U ? static_cast<float>(magnitude) * 0x1p-24F
                                           : std::bit_cast<float>((magnitude << 13) + (112U << 23));
    return sign != 0 ? -value : value;
  }
  static Compute round(Compute value) noexcept {
    if (std::isnan(value)) return value;
    const float magnitude = std::fabs(value);
    if (magnitude < 0x1p-14F) return std::copysign((magnitude + 0.5F) - 0.5F, value);  // steps of 2^-24
    const auto bits = std::bit_cast<std::uint32_t>(magnitude);
    const auto rounded = std::bit_cast<float>((bits + 0xfffU + ((bits >> 13) & 1U)) & ~0x1fffU);
    return std::copysign(rounded > 65504.0F ? std::numeric_limits<float>::infinity() : rounded, value);
  }
};

struct Float32 {
  using Bits = std::uint32_t;
  using Compute = float;
  static constexpr DType storage_dtype = DType::float32;
  static constexpr Bits infinity_bits = 0x7f800000;
  static Compute decode(Bits bits) noexcept { return std::bit_cast<float>(bits); }
  static Compute round(Compute value) noexcept { return value; }
};

struct Float64 {
  using Bits = std::uint64_t;
  using Compute = double;
  static constexpr DType storage_dtype = DType::float64;
  static constexpr Bits infinity_bits = 0x7ff0000000000000;
  static Compute decode(Bits bits) noexcept { return std::bit_cast<double>(bits); }
  static Compute round(Compute value) noexcept { return value; }
};

namespace detail {

/// 2^exponent for float8's range; std::ldexp is not constexpr.
constexpr float power_of_two(int exponent) {
  return exponent >= -126 ? std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23)
                          : std::bit_cast<float>(std::uint32_t{1} << (exponent + 149));
}

constexpr float small_float(unsigned bits, int mantissa_bits, int bias) {
  const auto mantissa = static_cast<float>(bits & ((1U << mantissa_bits) - 1U));
  const int exponent = static_cast<int>((bits & 0x7fU) >> mantissa_bits);
  const float scale = power_of_two((exponent == 0 ? 1 : exponent) - bias - mantissa_bits);
  const float value = (mantissa + (exponent == 0 ? 0.0F : static_cast<float>(1 << mantissa_bits))) * scale;
  return (bits & 0x80U) != 0 ? -value : value;
}

constexpr float decode_float8(DType dtype, unsigned bits) {
  constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
  constexpr float positive_infinity = std::numeric_limits<float>::infinity();
  const unsigned magnitude = bits & 0x7fU;
  switch (dtype) {
    case DType::float8_e4m3fn:
      return magnitude == 0x7fU ? not_a_number : small_float(bits, 3, 7);
    case DType::float8_e5m2:
      if (magnitude > 0x7cU) return not_a_number;
      if (magnitude == 0x7cU) return (bits & 0x80U) != 0 ? -positive_infinity : positive_infinity;
      return small_float(bits, 2, 15);
    case DType::float8_e4m3fnuz:
      return bits == 0x80U ? not_a_number : small_float(bits, 3, 8);
    case DType::float8_e5m2fnuz:
      return bits == 0x80U ? not_a_number : small_float(bits, 2, 16);
    default:
      return bits == 0xffU ? not_a_number : power_of_two(static_cast<int>(bits) - 127);  // float8_e8m0fnu: 2^-127 up
  }
}

}  // namespace detail

/// All 256 values of a float8 format (OCP "fn" and "e5m2", Graphcore/AMD "fnuz", OCP MX "e8m0"), as PyTorch decodes it.
template <DType dtype>
inline constexpr std::array<float, 256> float8_values = [] {
  std::array<float, 256> values{};
  for (unsigned bits = 0; bits < values.size(); ++bits) values[bits] = detail::decode_float8(dtype, bits);
  return values;
}();

}  // namespace lockstep
