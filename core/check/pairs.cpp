#include "check/pairs.hpp"

#include <cstring>
#include <vector>

#include "check/moments.hpp"
#include "check/parallel.hpp"

namespace lockstep::numeric {
namespace {

/// How bad a pair is; 0: not at all. A property has measure 1.
template <class Element>
double measure(typename Element::Bits e, typename Element::Bits a, Pick pick, const Tolerance& tolerance,
               double threshold) {
  const bool finite = Element::finite(e) && Element::finite(a);
  switch (pick) {
    case Pick::different_bits:
      return e != a ? 1 : 0;
    case Pick::non_finite:
      return finite ? 0 : 1;
    case Pick::nan_or_unequal_infinite:
      return finite || Element::equal(e, a) ? 0 : 1;
    default:
      break;
  }
  if (!finite || Element::equal(e, a)) return 0;
  switch (pick) {
    case Pick::abs:
      return Element::distance(e, a);
    case Pick::abs_not_exempt:
      return is_exempt(Element::value(e), Element::value(a), threshold) ? 0 : Element::distance(e, a);
    case Pick::rel:
      return Element::distance(e, a) / std::fabs(Element::value(e));
    case Pick::ratio:
      return Element::close(e, a, tolerance).ratio;
    default:
      return static_cast<double>(Element::ulp(e, a));
  }
}

/// Calls `f(number, measure)` for each pair of [begin, end).
template <class F>
void for_pairs(const Elements& expected, const Elements& actual, std::int64_t begin, std::int64_t end, Pick pick,
               const Tolerance& tolerance, F&& f) {
  const double threshold = fill_threshold(expected.dtype());
  with_element(expected.dtype(), [&]<class Element>() {
    using Bits = typename Element::Bits;
    Scratch scratch_e;
    Scratch scratch_a;
    for (std::int64_t first = begin; first < end; first += block_size) {
      const std::int64_t n = std::min(block_size, end - first);
      const std::byte* raw_e = expected.read(first, n, scratch_e);
      const std::byte* raw_a = actual.read(first, n, scratch_a);
      for (std::int64_t i = 0; i < n; ++i) {
        Bits e;
        Bits a;
        std::memcpy(&e, raw_e + i * static_cast<std::int64_t>(sizeof e), sizeof e);
        std::memcpy(&a, raw_a + i * static_cast<std::int64_t>(sizeof a), sizeof a);
        f(first + i, measure<Element>(e, a, pick, tolerance, threshold));
      }
    }
  });
}

}  // namespace

std::int64_t find_pair(const Elements& expected, const Elements& actual, std::int64_t begin, std::int64_t end,
                       Pick pick, const Tolerance& tolerance) {
  std::int64_t worst = begin;
  double largest = 0;
  for_pairs(expected, actual, begin, end, pick, tolerance, [&](std::int64_t number, double size) {
    if (size <= largest) return;
    largest = size;
    worst = number;
  });
  return worst;
}

std::int64_t count_beyond(const Elements& expected, const Elements& actual, Pick pick, double scale, double limit) {
  const Spans spans(expected.count());
  std::vector<std::int64_t> parts(static_cast<std::size_t>(spans.count));
  parallel_for(spans.count, spans.elements, [&](std::int64_t i) {
    std::int64_t& part = parts[static_cast<std::size_t>(i)];
    for_pairs(expected, actual, spans.begin(i), spans.end(i), pick, {},
              [&](std::int64_t, double size) { part += size > 0 && size / scale > limit ? 1 : 0; });
  });
  std::int64_t all = 0;
  for (const std::int64_t part : parts) all += part;
  return all;
}

Value value_at(const Elements& elements, std::int64_t flat) {
  Scratch scratch;
  const std::byte* raw = elements.read(flat, 1, scratch);
  return with_element(elements.dtype(), [&]<class Element>() -> Value {
    typename Element::Bits bits;
    std::memcpy(&bits, raw, sizeof bits);
    if constexpr (std::is_same_v<Element, BoolElement>) {
      return Value(BoolElement::truth(bits) != 0);
    } else if constexpr (Element::floating) {
      return Value(Element::value(bits));
    } else {
      if (std::in_range<std::int64_t>(bits)) return Value(static_cast<std::int64_t>(bits));
      return Value(static_cast<double>(bits));
    }
  });
}

}  // namespace lockstep::numeric
