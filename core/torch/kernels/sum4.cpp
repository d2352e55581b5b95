#include "kernels/sum4.hpp"

#include "kernels/avx2.hpp"

namespace lockstep::kernels {
namespace {

constexpr std::int64_t partial_sums = 4;

/// The k of partial sum j, in order.
template <class Visit>
void each_k(std::int64_t j, std::int64_t k, const Visit& visit) {
  const auto whole = k / partial_sums * partial_sums;
  for (std::int64_t i = j; i < whole; i += partial_sums) visit(i);
  if (j == 0) {
    for (std::int64_t i = whole; i < k; ++i) visit(i);
  }
}

template <int Rows>
void widen(const std::uint16_t* a, std::int64_t a_stride, std::int64_t k, float* wide) noexcept {
  for (std::int64_t j = 0; j < partial_sums; ++j) {
    each_k(j, k, [&](std::int64_t i) {
      for (int r = 0; r < Rows; ++r) {
        *wide++ = std::bit_cast<float>(static_cast<std::uint32_t>(a[r * a_stride + i]) << 16U);
      }
    });
  }
}

/// 16 columns; columns at even and at odd places have registers of their own.
template <int Rows>
void sum4_tile(const float* wide, std::int64_t k, const std::uint16_t* b, std::int64_t b_stride, std::uint16_t* out,
               std::int64_t out_stride) noexcept {
  __m256 total_even[Rows];
  __m256 total_odd[Rows];
  for (std::int64_t j = 0; j < partial_sums; ++j) {
    __m256 even[Rows];
    __m256 odd[Rows];
    for (int r = 0; r < Rows; ++r) even[r] = odd[r] = _mm256_setzero_ps();
    each_k(j, k, [&](std::int64_t i) {
      const auto values = load16(b + i * b_stride);
      const auto e = even_places(values);
      const auto o = odd_places(values);
      for (int r = 0; r < Rows; ++r) {
        const auto row = _mm256_broadcast_ss(wide + r);
        even[r] = _mm256_fmadd_ps(row, e, even[r]);
        odd[r] = _mm256_fmadd_ps(row, o, odd[r]);
      }
      wide += Rows;
    });
    for (int r = 0; r < Rows; ++r) {
      total_even[r] = j == 0 ? even[r] : _mm256_add_ps(total_even[r], even[r]);
      total_odd[r] = j == 0 ? odd[r] : _mm256_add_ps(total_odd[r], odd[r]);
    }
  }
  for (int r = 0; r < Rows; ++r) {
    alignas(32) float even[8];
    alignas(32) float odd[8];
    _mm256_store_ps(even, total_even[r]);
    _mm256_store_ps(odd, total_odd[r]);
    for (int c = 0; c < 8; ++c) {
      out[r * out_stride + 2 * c] = to_bfloat16(even[c]);
      out[r * out_stride + 2 * c + 1] = to_bfloat16(odd[c]);
    }
  }
}

/// f.operator()<rows>() for the number of rows at run time.
template <class F>
void with_rows(std::int64_t rows, const F& f) {
  switch (rows) {
    case 1:
      return f.template operator()<1>();
    case 2:
      return f.template operator()<2>();
    case 3:
      return f.template operator()<3>();
    case 4:
      return f.template operator()<4>();
    case 5:
      return f.template operator()<5>();
    default:
      return f.template operator()<6>();
  }
}

}  // namespace

void widen_rows(const std::uint16_t* a, std::int64_t rows, std::int64_t a_stride, std::int64_t k,
                float* wide) noexcept {
  with_rows(rows, [&]<int Rows>() { widen<Rows>(a, a_stride, k, wide); });
}

void sum4_rows(const float* wide, std::int64_t rows, std::int64_t k, const std::uint16_t* b, std::int64_t b_stride,
               std::int64_t n, std::uint16_t* out, std::int64_t out_stride) noexcept {
  with_rows(rows, [&]<int Rows>() {
    for (std::int64_t c = 0; c < n; c += sum_columns) {
      sum4_tile<Rows>(wide, k, b + c, b_stride, out + c, out_stride);
    }
  });
}

}  // namespace lockstep::kernels
