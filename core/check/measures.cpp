#include "check/measures.hpp"

#include <algorithm>
#include <cmath>

#include "check/moments.hpp"
#include "check/rows.hpp"

namespace lockstep::numeric {
namespace {

constexpr double positive_infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Measure undefined(std::string reason) {
  Measure result;
  result.undefined = std::move(reason);
  return result;
}

Measure of(double value) {
  Measure result;
  result.value = value;
  return result;
}

/// A measure of single differences: NaN and infinity spread as they would in arithmetic.
Measure spread(double finite_value, const Differences& d) {
  if (d.nan > 0) return of(not_a_number);
  return of(d.unequal_infinite > 0 ? positive_infinity : finite_value);
}

Measure close_ratio(const Differences& d) {
  if (d.nan + d.unequal_infinite > 0) return of(positive_infinity);
  // The quotient of two neighbouring doubles may round to 1; pass is exactly value <= 1.
  if (d.not_close > 0) return of(std::max(d.max_ratio.value, std::nextafter(1.0, 2.0)));
  return of(std::min(d.max_ratio.value, 1.0));
}

/// Differences of 64-bit integers are exact in `d` only.
Peak<double> largest_difference(const Moments& m, const Differences& d) { return m.exempt > 0 ? m.max_abs : d.max_abs; }

Measure norm_wise(const Sides& sides, const Differences& d) {
  if (d.nan > 0) return undefined("a value is NaN");
  if (d.unequal_infinite > 0) return of(positive_infinity);
  const Moments m = find_moments(sides.expected, sides.actual, true);
  Measure result;
  result.exempt = m.exempt;
  const Peak<double> peak = largest_difference(m, d);
  result.span = peak.span;
  result.scale = m.largest_expected();
  if (m.used > 0) result.value = peak.value == 0 ? 0 : peak.value / result.scale;
  result.statistics = {{"max_abs_expected", result.scale}};
  return result;
}

Measure peir(const Sides& sides, const Differences& d) {
  if (d.nan > 0) return undefined("a value is NaN");
  if (d.non_finite_expected > 0) return undefined("the expected side holds an infinity");
  if (d.non_finite_actual > 0) return of(positive_infinity);
  const Moments m = find_moments(sides.expected, sides.actual, true);
  Measure result;
  result.exempt = m.exempt;
  const Peak<double> peak = largest_difference(m, d);
  result.span = peak.span;
  if (m.used == 0) return result;
  const double range = m.max_expected - m.min_expected;
  result.statistics = {{"expected_range", range}};
  if (range == 0) {
    result.undefined = "the expected side is constant";
  } else {
    result.scale = range;
    result.value = peak.value / range;
  }
  return result;
}

Measure sqnr(const Sides& sides, const Differences& d) {
  if (d.nan > 0) return undefined("a value is NaN");
  if (d.non_finite_expected > 0) return undefined("the expected side holds an infinity");
  if (d.non_finite_actual > 0) return of(-positive_infinity);
  if (d.sum_squares == 0 && d.values_differ == 0) return of(positive_infinity);
  const double signal = find_moments(sides.expected, sides.actual, false).squares_expected;
  if (!std::isfinite(signal) || !std::isfinite(d.sum_squares)) return undefined("the sum of squares overflows");
  if (d.sum_squares == 0) return undefined("the sum of squares underflows");
  return of(10 * std::log10(signal / d.sum_squares));
}

Measure cosine(const Sides& sides, const Differences& d) {
  if (d.nan > 0) return undefined("a value is NaN");
  if (d.non_finite > 0) return undefined("a value is infinite");
  const Moments m = find_moments(sides.expected, sides.actual, false);
  if (!std::isfinite(m.squares_expected) || !std::isfinite(m.squares_actual)) {
    return undefined("the sum of squares overflows");
  }
  Measure result = of(cosine_of(m.dot, m.squares_expected, m.squares_actual));
  const Rows rows(sides.sizes);
  const WorstRow worst =
      rows.count > 1 ? smallest_row_cosine(sides.expected, sides.actual, rows) : WorstRow{*result.value, 0};
  result.statistics = {{"rows", static_cast<double>(rows.count)}, {"cosine_min_row", worst.value}};
  result.differing_row = worst.row;
  return result;
}

Measure pcc(const Sides& sides, const Differences& d) {
  if (d.nan > 0) return undefined("a value is NaN");
  if (d.non_finite > 0) return undefined("a value is infinite");
  if (d.count == 1) return undefined("there is one element");
  const Moments m = find_moments(sides.expected, sides.actual, false);
  if (m.min_expected == m.max_expected) return undefined("the expected side is constant");
  if (m.min_actual == m.max_actual) return undefined("the actual side is constant");
  const auto count = static_cast<double>(d.count);
  const CentredSums sums =
      find_centred_sums(sides.expected, sides.actual, m.sum_expected / count, m.sum_actual / count);
  const double scale = std::sqrt(sums.squares_expected) * std::sqrt(sums.squares_actual);
  if (!std::isfinite(scale) || scale == 0) return undefined("the sum of squares overflows or underflows");
  return of(std::clamp(sums.cross / scale, -1.0, 1.0));
}

Measure kl(const Sides& sides, const Differences& d) {
  if (d.nan > 0) return undefined("a value is NaN");
  const Rows rows(sides.sizes);
  if (rows.length == 1) return undefined("a row of one element has one distribution");
  std::vector<double> divergences = row_divergences(sides.expected, sides.actual, rows);
  if (std::any_of(divergences.begin(), divergences.end(), [](double x) { return std::isnan(x); })) {
    return undefined("a row holds +inf, or nothing but -inf");
  }
  const auto worst = std::max_element(divergences.begin(), divergences.end());
  Measure result = of(*worst);
  result.differing_row = worst - divergences.begin();

  const auto count = static_cast<double>(rows.count);
  double sum = 0;
  std::int64_t infinite = 0;
  for (const double x : divergences) {
    sum += x;
    infinite += std::isinf(x) ? 1 : 0;
  }
  const double mean = sum / count;
  double squares = 0;
  for (const double x : divergences) squares += (x - mean) * (x - mean);
  std::sort(divergences.begin(), divergences.end());
  const auto quantile = [&](double q) {  // linear between neighbours, as torch.quantile
    const double place = q * (count - 1);
    const auto below = static_cast<std::size_t>(place);
    const double low = divergences[below];
    const double high = divergences[std::min(below + 1, divergences.size() - 1)];
    const double part = place - std::floor(place);
    return part == 0 ? low : low + part * (high - low);
  };
  result.statistics = {{"rows", count},
                       {"kl_mean", mean},
                       {"kl_median", quantile(0.5)},
                       {"kl_p99", quantile(0.99)},
                       {"rows_infinite", static_cast<double>(infinite)}};
  if (rows.count > 1 && std::isfinite(mean)) {
    result.statistics.emplace_back("kl_standard_error", std::sqrt(squares / (count - 1) / count));
  }
  return result;
}

Measure top(const Sides& sides, const Differences& d, std::int64_t k, bool first_of_equals) {
  if (d.nan > 0) return undefined("a value is NaN");
  const Rows rows(sides.sizes);
  if (k >= rows.length) return undefined("k covers the whole row");
  const TopAgreement agreement = compare_top(sides.expected, sides.actual, rows, k, first_of_equals);
  Measure result = of(static_cast<double>(agreement.agree) / static_cast<double>(rows.count));
  result.differing_row = agreement.first_differing_row;
  result.rows_differ = rows.count - agreement.agree;
  result.statistics = {{"rows", static_cast<double>(rows.count)},
                       {"rows_differ", static_cast<double>(result.rows_differ)},
                       {"smallest_margin_spacings", agreement.smallest_margin}};
  if (result.rows_differ > 0) {
    result.statistics.emplace_back("largest_differing_margin_spacings", agreement.largest_differing_margin);
  }
  return result;
}

}  // namespace

Measure measure(const Sides& sides, const Criterion& criterion, const Differences& d) {
  const auto count = static_cast<double>(d.count);
  switch (criterion.metric) {
    case Metric::close:
      return close_ratio(d);
    case Metric::ulp:
      return spread(static_cast<double>(d.max_ulp.value), d);
    case Metric::max_abs:
      return spread(d.max_abs.value, d);
    case Metric::max_rel:
      return spread(d.max_rel.value, d);
    case Metric::mean_abs:
      return spread(d.sum_abs / count, d);
    case Metric::rmse:
      return spread(std::sqrt(d.sum_squares / count), d);
    case Metric::norm_wise:
      return norm_wise(sides, d);
    case Metric::peir:
      return peir(sides, d);
    case Metric::sqnr:
      return sqnr(sides, d);
    case Metric::cosine:
      return cosine(sides, d);
    case Metric::pcc:
      return pcc(sides, d);
    case Metric::kl:
      return kl(sides, d);
    case Metric::top1:
      return top(sides, d, 1, true);
    case Metric::topk:
      return top(sides, d, static_cast<std::int64_t>(criterion.bound.k.value_or(1)), false);
    case Metric::bits:
    case Metric::equal:
    case Metric::expect:
      break;
  }
  return {};
}

}  // namespace lockstep::numeric
