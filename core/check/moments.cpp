#include "check/moments.hpp"

#include <cstring>
#include <vector>

#include "check/parallel.hpp"

namespace lockstep::numeric {
namespace {

/// Eight running sums: independent additions, folded in order.
struct Lanes {
  double lane[8] = {};
  void add(std::int64_t i, double x) { lane[i % 8] += x; }
  [[nodiscard]] double total() const {
    double sum = 0;
    for (const double x : lane) sum += x;
    return sum;
  }
};

/// Calls `f(e, a, n)` with each block of both sides of [begin, end) as doubles.
template <class F>
void for_blocks(const Elements& expected, const Elements& actual, std::int64_t begin, std::int64_t end, F&& f) {
  Scratch scratch;
  alignas(64) double e[block_size];
  alignas(64) double a[block_size];
  for (std::int64_t first = begin; first < end; first += block_size) {
    const std::int64_t n = std::min(block_size, end - first);
    decode(expected.dtype(), expected.read(first, n, scratch), n, e);
    decode(actual.dtype(), actual.read(first, n, scratch), n, a);
    f(e, a, n);
  }
}

/// Moves the pairs that are not exempt to the front; returns their number.
std::int64_t drop_exempt(double* e, double* a, std::int64_t n, double threshold) {
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    if (is_exempt(e[i], a[i], threshold)) continue;
    e[kept] = e[i];
    a[kept] = a[i];
    ++kept;
  }
  return kept;
}

void add_block(const double* e, const double* a, std::int64_t n, Moments& out) {
  Lanes sum_e, sum_a, dot, squares_e, squares_a;
  for (std::int64_t i = 0; i < n; ++i) {
    sum_e.add(i, e[i]);
    sum_a.add(i, a[i]);
    dot.add(i, e[i] * a[i]);
    squares_e.add(i, e[i] * e[i]);
    squares_a.add(i, a[i] * a[i]);
  }
  for (std::int64_t i = 0; i < n; ++i) {
    out.min_expected = std::min(out.min_expected, e[i]);
    out.max_expected = std::max(out.max_expected, e[i]);
    out.min_actual = std::min(out.min_actual, a[i]);
    out.max_actual = std::max(out.max_actual, a[i]);
    out.max_abs.value = std::max(out.max_abs.value, std::fabs(a[i] - e[i]));
  }
  out.used += n;
  out.sum_expected += sum_e.total();
  out.sum_actual += sum_a.total();
  out.dot += dot.total();
  out.squares_expected += squares_e.total();
  out.squares_actual += squares_a.total();
}

}  // namespace

void decode(DType dtype, const std::byte* raw, std::int64_t n, double* out) {
  with_element(dtype, [&]<class Element>() {
    using Bits = typename Element::Bits;
    for (std::int64_t i = 0; i < n; ++i) {
      Bits bits;
      std::memcpy(&bits, raw + i * static_cast<std::int64_t>(sizeof bits), sizeof bits);
      out[i] = Element::value(bits);
    }
  });
}

double fill_threshold(DType dtype) noexcept {
  switch (dtype) {
    case DType::float16:
      return 65504;
    case DType::bfloat16:
    case DType::float32:
    case DType::float64:
      return static_cast<double>(BFloat16::decode(BFloat16::infinity_bits - 1));
    default:
      return std::numeric_limits<double>::infinity();
  }
}

void Moments::merge(const Moments& later) {
  used += later.used;
  exempt += later.exempt;
  min_expected = std::min(min_expected, later.min_expected);
  max_expected = std::max(max_expected, later.max_expected);
  min_actual = std::min(min_actual, later.min_actual);
  max_actual = std::max(max_actual, later.max_actual);
  sum_expected += later.sum_expected;
  sum_actual += later.sum_actual;
  dot += later.dot;
  squares_expected += later.squares_expected;
  squares_actual += later.squares_actual;
  max_abs.merge(later.max_abs);
}

Moments find_moments(const Elements& expected, const Elements& actual, bool exempt_fills) {
  const Spans spans(expected.count());
  const double threshold = fill_threshold(expected.dtype());
  std::vector<Moments> parts(static_cast<std::size_t>(spans.count));
  parallel_for(spans.count, spans.elements, [&](std::int64_t i) {
    Moments& part = parts[static_cast<std::size_t>(i)];
    part.max_abs.span = i;
    for_blocks(expected, actual, spans.begin(i), spans.end(i), [&](double* e, double* a, std::int64_t n) {
      const std::int64_t kept = exempt_fills ? drop_exempt(e, a, n, threshold) : n;
      part.exempt += n - kept;
      add_block(e, a, kept, part);
    });
  });
  Moments all;
  for (const Moments& part : parts) all.merge(part);
  return all;
}

CentredSums find_centred_sums(const Elements& expected, const Elements& actual, double mean_expected,
                              double mean_actual) {
  const Spans spans(expected.count());
  std::vector<CentredSums> parts(static_cast<std::size_t>(spans.count));
  parallel_for(spans.count, spans.elements, [&](std::int64_t i) {
    CentredSums& part = parts[static_cast<std::size_t>(i)];
    for_blocks(expected, actual, spans.begin(i), spans.end(i), [&](const double* e, const double* a, std::int64_t n) {
      Lanes cross, squares_e, squares_a;
      for (std::int64_t j = 0; j < n; ++j) {
        const double ce = e[j] - mean_expected;
        const double ca = a[j] - mean_actual;
        cross.add(j, ce * ca);
        squares_e.add(j, ce * ce);
        squares_a.add(j, ca * ca);
      }
      part.cross += cross.total();
      part.squares_expected += squares_e.total();
      part.squares_actual += squares_a.total();
    });
  });
  CentredSums all;
  for (const CentredSums& part : parts) {
    all.cross += part.cross;
    all.squares_expected += part.squares_expected;
    all.squares_actual += part.squares_actual;
  }
  return all;
}

}  // namespace lockstep::numeric
