#include "tensor/float_formats.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"

using namespace lockstep;

namespace {

constexpr float positive_infinity = std::numeric_limits<float>::infinity();

/// Every finite value is its own rounding, and what lies half-way between two neighbours goes to the even one.
template <class Format>
void check_rounding() {
  for (std::uint32_t bits = 0; bits < Format::infinity_bits; ++bits) {
    const auto low = static_cast<std::uint16_t>(bits);
    const float value = Format::decode(low);
    REQUIRE(Format::round(value) == value);
    REQUIRE(Format::round(-value) == -value);
    if (bits + 1 == Format::infinity_bits) continue;
    const float next = Format::decode(static_cast<std::uint16_t>(bits + 1));
    REQUIRE(next > value);
    const float half = static_cast<float>((static_cast<double>(value) + static_cast<double>(next)) / 2);
    REQUIRE(Format::round(half) == (bits % 2 == 0 ? value : next));
    REQUIRE(Format::round(-half) == (bits % 2 == 0 ? -value : -next));
    REQUIRE(Format::round(std::nextafter(half, 0.0F)) == value);
    REQUIRE(Format::round(std::nextafter(half, positive_infinity)) == next);
  }
}

}  // namespace

TEST_CASE("rounding to bfloat16 and float16 is to nearest, ties to even, for every value") {
  check_rounding<BFloat16>();
  check_rounding<Float16>();
}

TEST_CASE("values beyond the largest round to it up to half a step, then to infinity") {
  CHECK(Float16::round(65519.0F) == 65504.0F);
  CHECK(Float16::round(65520.0F) == positive_infinity);
  CHECK(Float16::round(-1e30F) == -positive_infinity);
  CHECK(BFloat16::round(std::numeric_limits<float>::max()) == positive_infinity);
  CHECK(std::isnan(BFloat16::round(std::nanf(""))));
  CHECK(std::isnan(Float16::round(std::nanf(""))));
}

TEST_CASE("float16 and bfloat16 decode to their formats' landmarks") {
  CHECK(Float16::decode(0x3c00) == 1.0F);
  CHECK(Float16::decode(0x0001) == 0x1p-24F);
  CHECK(Float16::decode(0x0400) == 0x1p-14F);
  CHECK(Float16::decode(0xfbff) == -65504.0F);
  CHECK(Float16::decode(0xfc00) == -positive_infinity);
  CHECK(std::isnan(Float16::decode(0x7e00)));
  CHECK(std::signbit(Float16::decode(0x8000)));
  CHECK(BFloat16::decode(0x3f80) == 1.0F);
  CHECK(BFloat16::decode(0x0001) == 0x1p-133F);
  CHECK(BFloat16::decode(0x7f7f) == 0x1.fep127F);
}

// Largest, smallest and special values: OCP 8-bit floating point specification 1.0 (e4m3fn, e5m2), OCP MX 1.0 (e8m0),
// and the table of PyTorch's and ONNX's documentation for fnuz.
TEST_CASE("float8 formats decode to their specifications' landmarks") {
  const auto& e4m3 = float8_values<DType::float8_e4m3fn>;
  CHECK(e4m3[0x7e] == 448.0F);
  CHECK(e4m3[0x01] == 0x1p-9F);
  CHECK(e4m3[0x38] == 1.0F);
  CHECK(std::isnan(e4m3[0x7f]));
  CHECK(std::isnan(e4m3[0xff]));
  const auto& e5m2 = float8_values<DType::float8_e5m2>;
  CHECK(e5m2[0x7b] == 57344.0F);
  CHECK(e5m2[0x01] == 0x1p-16F);
  CHECK(e5m2[0x7c] == positive_infinity);
  CHECK(e5m2[0xfc] == -positive_infinity);
  CHECK(std::isnan(e5m2[0x7d]));
  const auto& e4m3z = float8_values<DType::float8_e4m3fnuz>;
  CHECK(e4m3z[0x7f] == 240.0F);
  CHECK(e4m3z[0x01] == 0x1p-10F);
  CHECK(std::isnan(e4m3z[0x80]));
  const auto& e5m2z = float8_values<DType::float8_e5m2fnuz>;
  CHECK(e5m2z[0x7f] == 57344.0F);
  CHECK(e5m2z[0x01] == 0x1p-17F);
  CHECK(std::isnan(e5m2z[0x80]));
  const auto& e8m0 = float8_values<DType::float8_e8m0fnu>;
  CHECK(e8m0[0x00] == 0x1p-127F);
  CHECK(e8m0[0x7f] == 1.0F);
  CHECK(e8m0[0xfe] == 0x1p127F);
  CHECK(std::isnan(e8m0[0xff]));
}
