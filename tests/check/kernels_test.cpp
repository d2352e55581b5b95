// The vector code of each instruction set against the rules for single pairs, which the recorded cases have proved.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "catch.hpp"
#include "check/block_kernels.hpp"
#include "check/element_rules.hpp"
#include "check/elements.hpp"
#include "check/generator.hpp"

using namespace lockstep;
using namespace lockstep::numeric;

namespace {

template <class Format>
std::vector<typename Format::Bits> all_magnitudes(std::uint64_t seed, std::size_t n) {
  using Bits = typename Format::Bits;
  std::vector<Bits> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    auto bits = static_cast<Bits>(generator::mix(i, seed));  // any finite pattern: subnormals, zeros, the largest
    constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
    const Bits magnitude = static_cast<Bits>(bits & static_cast<Bits>(~kSign)) % Format::infinity_bits;
    out[i] = static_cast<Bits>((bits & kSign) | magnitude);
  }
  return out;
}

/// Copies of `e` that differ by a few places, by a sign, by nothing or by everything.
template <class Bits>
std::vector<Bits> perturbed(const std::vector<Bits>& e, const std::vector<Bits>& other) {
  std::vector<Bits> a = e;
  for (std::size_t i = 0; i < a.size(); ++i) {
    switch (generator::mix(i, 99) % 5) {
      case 0:
        a[i] = other[i];
        break;
      case 1:
        a[i] = static_cast<Bits>(a[i] ^ (Bits{1} << (8 * sizeof(Bits) - 1)));
        break;
      case 2:
        a[i] = static_cast<Bits>(a[i] & ~Bits{3});
        break;
      default:
        break;
    }
  }
  return a;
}

template <class Format>
void compare_with_rules(const char* set, const Tolerance& tolerance) {
  using Element = FloatElement<Format>;
  const BlockKernels* kernels = block_kernels(Format::storage_dtype, set);
  if (kernels == nullptr) return;  // not on this processor
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto e = all_magnitudes<Format>(seed, block_size);
    const auto a = perturbed(e, all_magnitudes<Format>(seed + 1000, block_size));
    std::int64_t bits_differ = 0;
    std::int64_t values_differ = 0;
    std::int64_t not_close = 0;
    BlockMaxima expected;
    for (std::size_t i = 0; i < e.size(); ++i) {
      bits_differ += e[i] != a[i] ? 1 : 0;
      if (Element::equal(e[i], a[i])) continue;
      const Closeness c = Element::close(e[i], a[i], tolerance);
      ++values_differ;
      not_close += c.close ? 0 : 1;
      const double d = Element::distance(e[i], a[i]);
      expected.abs = std::max(expected.abs, d);
      expected.rel = std::max(expected.rel, d / std::fabs(Element::value(e[i])));
      expected.ratio = std::max(expected.ratio, c.ratio);
      expected.ulp = std::max(expected.ulp, Element::ulp(e[i], a[i]));
    }
    const auto* raw_e = reinterpret_cast<const std::byte*>(e.data());
    const auto* raw_a = reinterpret_cast<const std::byte*>(a.data());
    BlockMaxima maxima;
    const BlockCounts counts = kernels->differences(raw_e, raw_a, block_size, tolerance.rtol, tolerance.atol, maxima);
    INFO(set << " " << name_of(Format::storage_dtype) << " rtol " << tolerance.rtol << " atol " << tolerance.atol);
    CHECK(counts.bits_differ == bits_differ);
    CHECK(counts.values_differ == values_differ);
    CHECK(counts.not_close == not_close);
    CHECK(maxima.abs == expected.abs);
    CHECK(maxima.rel == expected.rel);
    CHECK(maxima.ratio == expected.ratio);
    CHECK(maxima.ulp == expected.ulp);

    // Every instruction set adds in the same order.
    BlockMaxima again;
    const BlockCounts baseline = block_kernels(Format::storage_dtype, "baseline")
                                     ->differences(raw_e, raw_a, block_size, tolerance.rtol, tolerance.atol, again);
    CHECK(std::memcmp(&counts.sum_abs, &baseline.sum_abs, sizeof(double)) == 0);
    CHECK(std::memcmp(&counts.sum_squares, &baseline.sum_squares, sizeof(double)) == 0);

    // A running maximum is raised or left alone, whatever it was: one place below, equal, above.
    for (const double start : {std::nextafter(expected.ratio, 0.0), expected.ratio, expected.ratio * 2}) {
      BlockMaxima running{.rel = start * 1e-3, .ratio = start};
      (void)kernels->differences(raw_e, raw_a, block_size, tolerance.rtol, tolerance.atol, running);
      CHECK(running.ratio == std::max(start, expected.ratio));
      CHECK(running.rel == std::max(start * 1e-3, expected.rel));
    }
  }
}

template <class Format>
void classify_with_rules(const char* set) {
  using Bits = typename Format::Bits;
  const BlockKernels* kernels = block_kernels(Format::storage_dtype, set);
  if (kernels == nullptr) return;
  const auto e = all_magnitudes<Format>(3, block_size);
  const auto kind = [&](const std::vector<Bits>& x, const std::vector<Bits>& y) {
    return kernels->classify(reinterpret_cast<const std::byte*>(x.data()), reinterpret_cast<const std::byte*>(y.data()),
                             block_size);
  };
  CHECK(kind(e, e) == BlockKind::equal);
  for (const std::size_t at : {0U, 7U, 8U, 1023U, 2047U}) {
    auto a = e;
    a[at] = static_cast<Bits>(a[at] ^ 1U);
    CHECK(kind(e, a) == BlockKind::finite);
    for (const Bits special : {Format::infinity_bits, static_cast<Bits>(Format::infinity_bits + 1)}) {
      for (const Bits sign : {Bits{0}, static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1))}) {
        a[at] = special | sign;
        CHECK(kind(e, a) == BlockKind::other);
        CHECK(kind(a, e) == BlockKind::other);
        CHECK(kind(a, a) == BlockKind::other);
      }
    }
  }
}

template <class Format>
void check_format() {
  for (const char* set : {"baseline", "avx2", "avx512"}) {
    classify_with_rules<Format>(set);
    const Tolerance standard = default_tolerance(Format::storage_dtype);
    for (const Tolerance& tolerance :
         {standard, Tolerance{0.3, 0.0}, Tolerance{0.0, 1.0}, Tolerance{0.0, 1e300}, Tolerance{1e-30, 1e-42}}) {
      compare_with_rules<Format>(set, tolerance);
    }
  }
}

}  // namespace

TEST_CASE("vector kernels of every instruction set follow the rules for single pairs") {
  check_format<BFloat16>();
  check_format<Float16>();
  check_format<Float32>();
  check_format<Float64>();
}
