#pragma once

// Included only by files that are compiled for AVX2 and FMA.

#include <immintrin.h>

#include <bit>
#include <cstdint>

namespace lockstep::kernels {

inline __m256i load16(const std::uint16_t* values) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values));
}
/// Of 16 bfloat16 values those at even places, those at odd places.
inline __m256 even_places(__m256i values) noexcept { return _mm256_castsi256_ps(_mm256_slli_epi32(values, 16)); }
inline __m256 odd_places(__m256i values) noexcept {
  return _mm256_castsi256_ps(_mm256_and_si256(values, _mm256_set1_epi32(static_cast<int>(0xffff0000U))));
}
/// 8 bfloat16 values in order.
inline __m256 load8(const std::uint16_t* values) noexcept {
  const auto narrow = _mm_loadu_si128(reinterpret_cast<const __m128i*>(values));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(narrow), 16));
}

/// To the nearest, ties to even; every NaN becomes 0x7fc0, as in c10::BFloat16.
inline std::uint16_t to_bfloat16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (value != value) return 0x7fc0;
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);
}

}  // namespace lockstep::kernels
