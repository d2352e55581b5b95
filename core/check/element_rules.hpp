#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include <lockstep/tensor.hpp>

#include "tensor/float_formats.hpp"

/// What each dtype means for one pair of elements. Every rule here is the definition; the vector kernels compute the
/// same numbers for blocks of finite floats.
namespace lockstep::numeric {

struct Tolerance {
  double rtol = 0;
  double atol = 0;
  [[nodiscard]] bool exact() const noexcept { return rtol == 0 && atol == 0; }
  friend bool operator==(const Tolerance&, const Tolerance&) = default;
};

/// torch.testing.assert_close's defaults; zero for integers, bool and float8.
[[nodiscard]] inline Tolerance default_tolerance(DType dtype) noexcept {
  switch (dtype) {
    case DType::float16:
      return {1e-3, 1e-5};
    case DType::bfloat16:
      return {1.6e-2, 1e-5};
    case DType::float32:
      return {1.3e-6, 1e-5};
    case DType::float64:
      return {1e-7, 1e-7};
    default:
      return {};
  }
}

struct Closeness {
  bool close;
  double ratio;  ///< difference / allowed; 0 if equal, inf if nothing is allowed or the difference is not finite
};

inline Closeness closeness(double difference, double allowed) noexcept {
  constexpr double positive_infinity = std::numeric_limits<double>::infinity();
  if (!std::isfinite(difference) || std::isnan(allowed)) return {false, positive_infinity};
  if (allowed > 0) return {difference <= allowed, difference / allowed};
  return difference <= allowed ? Closeness{true, 0} : Closeness{false, positive_infinity};
}

/// Distance of two floats of one format on a line in order of value, where -0 and +0 share a place.
template <class Bits>
constexpr std::uint64_t places_between(Bits e, Bits a) noexcept {
  constexpr Bits magnitude_mask = static_cast<Bits>(std::numeric_limits<Bits>::max() >> 1);
  const std::uint64_t size_e = e & magnitude_mask;
  const std::uint64_t size_a = a & magnitude_mask;
  if (((e ^ a) & static_cast<Bits>(~magnitude_mask)) != 0) return size_e + size_a;
  return size_e > size_a ? size_e - size_a : size_a - size_e;
}

/// float16, bfloat16, float32, float64.
template <class Format>
struct FloatElement {
  using Bits = typename Format::Bits;
  using Compute = typename Format::Compute;
  static constexpr bool floating = true;

  static Bits magnitude(Bits bits) noexcept {
    return static_cast<Bits>(bits & (std::numeric_limits<Bits>::max() >> 1));
  }
  static bool finite(Bits bits) noexcept { return magnitude(bits) < Format::infinity_bits; }
  static bool nan(Bits bits) noexcept { return magnitude(bits) > Format::infinity_bits; }
  static double value(Bits bits) noexcept { return static_cast<double>(Format::decode(bits)); }
  static bool equal(Bits e, Bits a) noexcept { return Format::decode(e) == Format::decode(a); }
  static double distance(Bits e, Bits a) noexcept { return std::fabs(value(a) - value(e)); }
  static std::uint64_t ulp(Bits e, Bits a) noexcept { return places_between(e, a); }
  /// torch.isclose for values that differ: difference, product and sum each rounded to the format. torch rounds atol
  /// to the format before it adds, and multiplies by rtol in the compute type.
  static Closeness close(Bits e, Bits a, const Tolerance& tolerance) noexcept {
    const Compute expected = Format::decode(e);
    const Compute difference = std::fabs(Format::round(Format::decode(a) - expected));
    const Compute scaled = std::fabs(Format::round(static_cast<Compute>(tolerance.rtol) * expected));
    const Compute allowed = Format::round(Format::round(static_cast<Compute>(tolerance.atol)) + scaled);
    return closeness(static_cast<double>(difference), static_cast<double>(allowed));
  }
};

template <DType dtype>
struct Float8Element {
  using Bits = std::uint8_t;
  static constexpr bool floating = true;
  static constexpr const std::array<float, 256>& value_count = float8_values<dtype>;

  static bool finite(Bits bits) noexcept { return std::isfinite(value_count[bits]); }
  static bool nan(Bits bits) noexcept { return std::isnan(value_count[bits]); }
  static double value(Bits bits) noexcept { return static_cast<double>(value_count[bits]); }
  static bool equal(Bits e, Bits a) noexcept { return value_count[e] == value_count[a]; }
  static double distance(Bits e, Bits a) noexcept { return std::fabs(value(a) - value(e)); }
  static std::uint64_t ulp(Bits e, Bits a) noexcept {
    if constexpr (dtype == DType::float8_e8m0fnu) return e > a ? e - a : a - e;  // no sign bit
    return places_between(e, a);
  }
  static Closeness close(Bits, Bits, const Tolerance&) noexcept {
    return {false, std::numeric_limits<double>::infinity()};
  }
};

template <class T>
struct IntegerElement {
  using Bits = T;
  static constexpr bool floating = false;

  static bool finite(T) noexcept { return true; }
  static bool nan(T) noexcept { return false; }
  static double value(T element) noexcept { return static_cast<double>(element); }
  static bool equal(T e, T a) noexcept { return e == a; }
  static std::uint64_t ulp(T e, T a) noexcept {
    const auto high = static_cast<std::uint64_t>(std::max(e, a));  // modulo 2^64: the difference is exact
    return high - static_cast<std::uint64_t>(std::min(e, a));
  }
  static double distance(T e, T a) noexcept { return static_cast<double>(ulp(e, a)); }
  /// torch.isclose takes integers to float32 first.
  static Closeness close(T e, T a, const Tolerance& tolerance) noexcept {
    const auto expected = static_cast<float>(e);
    const float difference = std::fabs(static_cast<float>(a) - expected);
    const float allowed = static_cast<float>(tolerance.atol) + std::fabs(static_cast<float>(tolerance.rtol) * expected);
    return closeness(static_cast<double>(difference), static_cast<double>(allowed));
  }
};

/// Any byte but 0 is true.
struct BoolElement {
  using Bits = std::uint8_t;
  using Integer = IntegerElement<std::uint8_t>;
  static constexpr bool floating = false;

  static Bits truth(Bits bits) noexcept { return bits != 0 ? 1 : 0; }
  static bool finite(Bits) noexcept { return true; }
  static bool nan(Bits) noexcept { return false; }
  static double value(Bits bits) noexcept { return truth(bits); }
  static bool equal(Bits e, Bits a) noexcept { return truth(e) == truth(a); }
  static std::uint64_t ulp(Bits e, Bits a) noexcept { return Integer::ulp(truth(e), truth(a)); }
  static double distance(Bits e, Bits a) noexcept { return Integer::distance(truth(e), truth(a)); }
  static Closeness close(Bits e, Bits a, const Tolerance& tolerance) noexcept {
    return Integer::close(truth(e), truth(a), tolerance);
  }
};

/// Calls `f.template operator()<Element>()` with the rules of `dtype`.
template <class F>
decltype(auto) with_element(DType dtype, F&& f) {
  switch (dtype) {
    case DType::boolean:
      return f.template operator()<BoolElement>();
    case DType::uint8:
      return f.template operator()<IntegerElement<std::uint8_t>>();
    case DType::int8:
      return f.template operator()<IntegerElement<std::int8_t>>();
    case DType::uint16:
      return f.template operator()<IntegerElement<std::uint16_t>>();
    case DType::int16:
      return f.template operator()<IntegerElement<std::int16_t>>();
    case DType::uint32:
      return f.template operator()<IntegerElement<std::uint32_t>>();
    case DType::int32:
      return f.template operator()<IntegerElement<std::int32_t>>();
    case DType::uint64:
      return f.template operator()<IntegerElement<std::uint64_t>>();
    case DType::int64:
      return f.template operator()<IntegerElement<std::int64_t>>();
    case DType::float8_e4m3fn:
      return f.template operator()<Float8Element<DType::float8_e4m3fn>>();
    case DType::float8_e5m2:
      return f.template operator()<Float8Element<DType::float8_e5m2>>();
    case DType::float8_e4m3fnuz:
      return f.template operator()<Float8Element<DType::float8_e4m3fnuz>>();
    case DType::float8_e5m2fnuz:
      return f.template operator()<Float8Element<DType::float8_e5m2fnuz>>();
    case DType::float8_e8m0fnu:
      return f.template operator()<Float8Element<DType::float8_e8m0fnu>>();
    case DType::float16:
      return f.template operator()<FloatElement<Float16>>();
    case DType::bfloat16:
      return f.template operator()<FloatElement<BFloat16>>();
    case DType::float32:
      return f.template operator()<FloatElement<Float32>>();
    case DType::float64:
      break;
  }
  return f.template operator()<FloatElement<Float64>>();
}

}  // namespace lockstep::numeric
