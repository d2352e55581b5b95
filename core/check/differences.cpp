#include "check/differences.hpp"

#include <cstring>
#include <vector>

#include "check/block_kernels.hpp"
#include "check/parallel.hpp"

namespace lockstep::numeric {
namespace {

void keep_first(std::int64_t& span, std::int64_t later) {
  if (span < 0) span = later;
}

template <class Bits>
Bits load(const std::byte* from, std::int64_t i) {
  Bits bits;
  std::memcpy(&bits, from + i * static_cast<std::int64_t>(sizeof bits), sizeof bits);
  return bits;
}

template <class T>
void raise(Peak<T>& peak, T value) {
  if (value > peak.value) peak.value = value;
}

/// One pair at a time: every dtype, every value.
template <class Element>
void add_block(const std::byte* expected, const std::byte* actual, std::int64_t n, const Tolerance& tolerance,
               Differences& out) {
  using Bits = typename Element::Bits;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto e = load<Bits>(expected, i);
    const auto a = load<Bits>(actual, i);
    out.bits_differ += e != a ? 1 : 0;
    const bool finite_e = Element::finite(e);
    const bool finite_a = Element::finite(a);
    out.non_finite_expected += finite_e ? 0 : 1;
    out.non_finite_actual += finite_a ? 0 : 1;
    out.non_finite += finite_e && finite_a ? 0 : 1;
    out.non_finite_bits_differ += e != a && !(finite_e && finite_a) ? 1 : 0;
    if (Element::equal(e, a)) continue;
    ++out.values_differ;
    if (!finite_e || !finite_a) {
      ++out.not_close;
      (Element::nan(e) || Element::nan(a) ? out.nan : out.unequal_infinite) += 1;
      continue;
    }
    const double distance = Element::distance(e, a);
    const double size = std::fabs(Element::value(e));
    const auto closeness =
        tolerance.exact() ? Closeness{false, std::numeric_limits<double>::infinity()} : Element::close(e, a, tolerance);
    out.not_close += closeness.close ? 0 : 1;
    out.sum_abs += distance;
    out.sum_squares += distance * distance;
    raise(out.max_abs, distance);
    raise(out.max_rel, size > 0 ? distance / size : std::numeric_limits<double>::infinity());
    raise(out.max_ratio, closeness.ratio);
    raise(out.max_ulp, Element::ulp(e, a));
  }
}

using AddBlock = void (*)(const std::byte*, const std::byte*, std::int64_t, const Tolerance&, Differences&);

class Scan {
 public:
  Scan(const Elements& expected, const Elements& actual, const Tolerance& tolerance)
      : expected_(expected),
        actual_(actual),
        tolerance_(tolerance),
        width_(element_size(expected.dtype())),
        kernels_(block_kernels(expected.dtype())),
        add_block_(with_element(expected.dtype(), []<class E>() -> AddBlock { return add_block<E>; })) {}

  [[nodiscard]] Differences span(std::int64_t begin, std::int64_t end) const {
    Differences out;
    Scratch scratch_e;
    Scratch scratch_a;
    for (std::int64_t first = begin; first < end; first += block_size) {
      const std::int64_t n = std::min(block_size, end - first);
      const std::byte* e = expected_.read(first, n, scratch_e);
      const std::byte* a = actual_.read(first, n, scratch_a);
      out.count += n;
      if (kernels_ != nullptr) {
        add_float_block(e, a, n, scratch_e, scratch_a, out);
      } else if (std::memcmp(e, a, static_cast<std::size_t>(n) * width_) != 0 || is_floating_point(expected_.dtype())) {
        add_block_(e, a, n, tolerance_, out);
      }
    }
    return out;
  }

 private:
  void add_float_block(const std::byte* e, const std::byte* a, std::int64_t n, Scratch& scratch_e, Scratch& scratch_a,
                       Differences& out) const {
    const std::int64_t padded = (n + 7) / 8 * 8;
    if (padded != n) {
      e = pad(e, n, padded, scratch_e);
      a = pad(a, n, padded, scratch_a);
    }
    switch (kernels_->classify(e, a, padded)) {
      case BlockKind::equal:
        return;
      case BlockKind::other:
        return add_block_(e, a, n, tolerance_, out);
      case BlockKind::finite:
        break;
    }
    BlockMaxima maxima{out.max_abs.value, out.max_rel.value, out.max_ratio.value, out.max_ulp.value};
    const BlockCounts counts = kernels_->differences(e, a, padded, tolerance_.rtol, tolerance_.atol, maxima);
    out.bits_differ += counts.bits_differ;
    out.values_differ += counts.values_differ;
    out.not_close += counts.not_close;
    out.sum_abs += counts.sum_abs;
    out.sum_squares += counts.sum_squares;
    out.max_abs.value = maxima.abs;
    out.max_rel.value = maxima.rel;
    out.max_ratio.value = maxima.ratio;
    out.max_ulp.value = maxima.ulp;
  }

  /// Pairs of zeros add nothing to any count, sum or maximum.
  const std::byte* pad(const std::byte* from, std::int64_t n, std::int64_t padded, Scratch& scratch) const {
    const std::size_t used = static_cast<std::size_t>(n) * width_;
    if (from != scratch.bytes) std::memcpy(scratch.bytes, from, used);
    std::memset(scratch.bytes + used, 0, static_cast<std::size_t>(padded) * width_ - used);
    return scratch.bytes;
  }

  const Elements& expected_;
  const Elements& actual_;
  Tolerance tolerance_;
  std::size_t width_;
  const BlockKernels* kernels_;
  AddBlock add_block_;
};

}  // namespace

void Differences::merge(const Differences& later) {
  count += later.count;
  bits_differ += later.bits_differ;
  non_finite_bits_differ += later.non_finite_bits_differ;
  values_differ += later.values_differ;
  not_close += later.not_close;
  non_finite += later.non_finite;
  non_finite_expected += later.non_finite_expected;
  non_finite_actual += later.non_finite_actual;
  nan += later.nan;
  unequal_infinite += later.unequal_infinite;
  sum_abs += later.sum_abs;
  sum_squares += later.sum_squares;
  max_abs.merge(later.max_abs);
  max_rel.merge(later.max_rel);
  max_ratio.merge(later.max_ratio);
  max_ulp.merge(later.max_ulp);
  keep_first(first_bits_span, later.first_bits_span);
  keep_first(first_bad_span, later.first_bad_span);
  keep_first(first_non_finite_span, later.first_non_finite_span);
}

Spans::Spans(std::int64_t n) : elements(n) {
  constexpr std::int64_t most_spans = 1024;
  constexpr std::int64_t fewest_blocks = 8;
  const std::int64_t blocks = (n + block_size - 1) / block_size;
  length = block_size * std::max(fewest_blocks, (blocks + most_spans - 1) / most_spans);
  count = (n + length - 1) / length;
}

Differences find_differences(const Elements& expected, const Elements& actual, const Tolerance& tolerance) {
  const Spans spans(expected.count());
  std::vector<Differences> parts(static_cast<std::size_t>(spans.count));
  const Scan scan(expected, actual, tolerance);
  parallel_for(spans.count, spans.elements, [&](std::int64_t i) {
    Differences part = scan.span(spans.begin(i), spans.end(i));
    part.max_abs.span = part.max_rel.span = part.max_ratio.span = part.max_ulp.span = i;
    if (part.bits_differ > 0) part.first_bits_span = i;
    if (part.nan + part.unequal_infinite > 0) part.first_bad_span = i;
    if (part.non_finite > 0) part.first_non_finite_span = i;
    parts[static_cast<std::size_t>(i)] = part;
  });
  Differences all;
  for (const Differences& part : parts) all.merge(part);
  return all;
}

}  // namespace lockstep::numeric
