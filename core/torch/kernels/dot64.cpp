#include "kernels/dot64.hpp"

#include "kernels/avx2.hpp"

namespace lockstep::kernels {
namespace {

constexpr std::int64_t width = 8;  // float32 values in a register
constexpr std::int64_t registers = dot_lanes / width;
constexpr std::int64_t group = 16;  // bfloat16 values in a register
constexpr std::int64_t groups = dot_lanes / group;

__m128 upper_and_lower(__m256 lanes) noexcept {
  return _mm_add_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps(lanes, 1));
}

/// The last three halvings of lanes 0 to 7.
float halved(__m256 lanes) noexcept {
  const auto four = upper_and_lower(lanes);
  const auto two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

/// All halvings of lanes in order.
float halved(const float* lanes) noexcept {
  const auto sum = [lanes](std::int64_t r) {  // with 32
    return _mm256_add_ps(_mm256_load_ps(lanes + r * width), _mm256_load_ps(lanes + (r + 4) * width));
  };
  return halved(_mm256_add_ps(_mm256_add_ps(sum(0), sum(2)), _mm256_add_ps(sum(1), sum(3))));
}

/// All halvings of lanes in groups of 16, of each group the lanes at even and at odd places.
float halved(const __m256 (&even)[groups], const __m256 (&odd)[groups]) noexcept {
  const auto sum = [](const __m256(&of)[groups]) {
    return upper_and_lower(_mm256_add_ps(_mm256_add_ps(of[0], of[2]), _mm256_add_ps(of[1], of[3])));
  };
  const auto e = sum(even);                                                // lanes 0 2 4 6
  const auto o = sum(odd);                                                 // lanes 1 3 5 7
  const auto four = _mm_add_ps(_mm_movelh_ps(e, o), _mm_movehl_ps(o, e));  // lanes 0 2 1 3
  const auto two = _mm_add_ps(four, _mm_movehdup_ps(four));                // lane 0, ., lane 1, .
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehl_ps(two, two)));
}

template <std::int64_t Rows>
void pack_panel(const std::uint16_t* rows, std::int64_t count, std::int64_t stride, std::int64_t k,
                float* panel) noexcept {
  for (std::int64_t r = 0; r < registers; ++r) {
    for (std::int64_t i = r * width; i < k; i += dot_lanes) {
      for (std::int64_t row = 0; row < Rows; ++row, panel += width) {
        _mm256_storeu_ps(panel, row < count ? load8(rows + row * stride + i) : _mm256_setzero_ps());
      }
    }
  }
}

}  // namespace

bool has_avx2() noexcept { return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0; }

void widen_row(const std::uint16_t* x, std::int64_t count, float* wide) noexcept {
  for (std::int64_t i = 0; i < count; i += group) {
    const auto values = load16(x + i);
    _mm256_storeu_ps(wide + i, even_places(values));
    _mm256_storeu_ps(wide + i + width, odd_places(values));
  }
}

void dot64_row(const float* x, const std::uint16_t* w, std::int64_t w_stride, std::int64_t k, std::int64_t columns,
               std::uint16_t* out) noexcept {
  for (std::int64_t c = 0; c < columns; ++c, w += w_stride) {
    __m256 even[groups];
    __m256 odd[groups];
    for (std::int64_t g = 0; g < groups; ++g) even[g] = odd[g] = _mm256_setzero_ps();
    for (std::int64_t i = 0; i < k; i += dot_lanes) {
      for (std::int64_t g = 0; g < groups; ++g) {
        const auto at = i + g * group;
        const auto values = load16(w + at);
        even[g] = _mm256_fmadd_ps(_mm256_loadu_ps(x + at), even_places(values), even[g]);
        odd[g] = _mm256_fmadd_ps(_mm256_loadu_ps(x + at + width), odd_places(values), odd[g]);
      }
    }
    out[c] = to_bfloat16(halved(even, odd));
  }
}

void pack_x_panel(const std::uint16_t* rows, std::int64_t count, std::int64_t stride, std::int64_t k,
                  float* panel) noexcept {
  pack_panel<x_panel_rows>(rows, count, stride, k, panel);
}

void pack_w_panel(const std::uint16_t* rows, std::int64_t count, std::int64_t stride, std::int64_t k,
                  float* panel) noexcept {
  pack_panel<w_panel_rows>(rows, count, stride, k, panel);
}

void dot64_tile(const float* x_panel, const float* w_panel, std::int64_t k, std::int64_t rows, std::int64_t columns,
                std::uint16_t* out, std::int64_t out_stride) noexcept {
  alignas(32) float lanes[x_panel_rows][w_panel_rows][dot_lanes];
  for (std::int64_t r = 0; r < registers; ++r) {
    __m256 sums[x_panel_rows][w_panel_rows];
    for (auto& row : sums) {
      for (auto& sum : row) sum = _mm256_setzero_ps();
    }
    for (std::int64_t i = 0; i < k; i += dot_lanes) {
      __m256 x[x_panel_rows];
      for (std::int64_t m = 0; m < x_panel_rows; ++m, x_panel += width) x[m] = _mm256_loadu_ps(x_panel);
      for (std::int64_t n = 0; n < w_panel_rows; ++n, w_panel += width) {
        const auto w = _mm256_loadu_ps(w_panel);
        for (std::int64_t m = 0; m < x_panel_rows; ++m) sums[m][n] = _mm256_fmadd_ps(x[m], w, sums[m][n]);
      }
    }
    for (std::int64_t m = 0; m < x_panel_rows; ++m) {
      for (std::int64_t n = 0; n < w_panel_rows; ++n) _mm256_store_ps(lanes[m][n] + r * width, sums[m][n]);
    }
  }
  for (std::int64_t m = 0; m < rows; ++m) {
    for (std::int64_t n = 0; n < columns; ++n) out[m * out_stride + n] = to_bfloat16(halved(lanes[m][n]));
  }
}

}  // namespace lockstep::kernels
