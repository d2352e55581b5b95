#include "check/compare.hpp"

#include <cmath>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

#include "check/measures.hpp"
#include "check/messages.hpp"
#include "check/moments.hpp"
#include "check/pairs.hpp"
#include "check/rows.hpp"

namespace lockstep {
namespace {

using numeric::Differences;
using numeric::Measure;
using numeric::Pick;
using numeric::Sides;
using numeric::Tolerance;

/// Every element has the same address on both sides.
bool same_memory(const Tensor& e, const Tensor& a) {
  if (e.data() != a.data()) return false;
  for (std::size_t i = 0; i < e.sizes().size(); ++i) {
    if (e.sizes()[i] > 1 && e.strides()[i] != a.strides()[i]) return false;
  }
  return true;
}

/// The effective bound: what was given, with the metric's defaults of the dtype.
Bound effective(const Criterion& criterion, DType dtype) {
  Bound bound = criterion.bound;
  if (criterion.metric == Metric::close && !bound.rtol) {
    const Tolerance tolerance = numeric::default_tolerance(dtype);
    bound.rtol = tolerance.rtol;
    bound.atol = tolerance.atol;
  }
  if (criterion.metric == Metric::norm_wise && !bound.k) {
    // Some 15 and 170 unit roundoffs of the largest element: room for kernels that add in another order.
    if (dtype == DType::bfloat16) bound.k = 6e-2;
    if (dtype == DType::float32) bound.k = 1e-5;
  }
  return bound;
}

/// One comparison of two tensors; fills in `result_` step by step.
class Comparison {
 public:
  Comparison(const Tensor& expected, const Tensor& actual, const Criterion& criterion, const CompareOptions& options)
      : sides_{numeric::Elements(expected), numeric::Elements(actual), expected.sizes()},
        dtype_(expected.dtype()),
        options_(options),
        criterion_{criterion.metric, effective(criterion, expected.dtype())} {
    result_.metric = criterion.metric;
    result_.bound = criterion_.bound;
  }

  CheckResult run() {
    const Tolerance standard = numeric::default_tolerance(dtype_);
    tolerance_ =
        criterion_.metric == Metric::close ? Tolerance{*criterion_.bound.rtol, *criterion_.bound.atol} : standard;
    const bool refused = is_float8() && !tolerance_.exact();
    if (refused) tolerance_ = {};
    differences_ = numeric::find_differences(sides_.expected, sides_.actual, tolerance_);
    measure_ = numeric::measure(sides_, criterion_, differences_);
    refused_non_finite_ = options_.non_finite == NonFinite::fail ? differences_.non_finite
                                                                 : differences_.nan + differences_.unequal_infinite;

    result_.ladder = ladder(standard);
    result_.value = measure_.value;
    if (criterion_.metric == Metric::close && refused_non_finite_ > 0) {
      result_.value = std::numeric_limits<double>::infinity();
    }
    result_.compared = differences_.count - measure_.exempt;
    fill_statistics();
    judge();
    if (refused) {
      result_.value = std::nullopt;
      result_.verdict = Verdict::fail;
      result_.message = fmt::format("{} is compared exactly, a tolerance is refused", name_of(dtype_));
    }
    result_.mismatched = mismatched();
    if (!result_.message && result_.verdict == Verdict::fail) result_.message = failure_message();
    if (result_.compared > 0) result_.worst = worst();
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool is_float8() const { return is_floating_point(dtype_) && element_size(dtype_) == 1; }

  [[nodiscard]] std::string ladder(const Tolerance& standard) const {
    if (refused_non_finite_ > 0) return "non_finite";
    if (differences_.bits_differ == 0) return "bits_equal";
    if (differences_.values_differ == 0) return "signed_zero";
    if (is_floating_point(dtype_) && differences_.max_ulp.value <= 4) return "ulp";
    const bool close = tolerance_ == standard
                           ? differences_.not_close == 0
                           : numeric::find_differences(sides_.expected, sides_.actual, standard).not_close == 0;
    return close ? "close" : "far";
  }

  void fill_statistics() {
    const Differences& d = differences_;
    const auto count = static_cast<double>(d.count);
    auto& out = result_.statistics;
    out = {{"max_abs", d.max_abs.value},
           {"max_rel", d.max_rel.value},
           {"mean_abs", d.sum_abs / count},
           {"rmse", std::sqrt(d.sum_squares / count)},
           {"differing", static_cast<double>(d.values_differ)}};
    if (is_floating_point(dtype_)) {
      out.emplace_back("max_ulp", static_cast<double>(d.max_ulp.value));
      if (d.non_finite > 0) {
        out.emplace_back("non_finite_expected", static_cast<double>(d.non_finite_expected));
        out.emplace_back("non_finite_actual", static_cast<double>(d.non_finite_actual));
      }
    }
    if (measure_.exempt > 0) out.emplace_back("exempt", static_cast<double>(measure_.exempt));
    out.insert(out.end(), measure_.statistics.begin(), measure_.statistics.end());
  }

  void judge() {
    if (refused_non_finite_ > 0) {
      result_.verdict = Verdict::fail;
      result_.message = messages::non_finite(refused_non_finite_, differences_);
    } else if (result_.compared == 0) {
      result_.verdict = Verdict::vacuous;
      result_.message = "nothing was compared: every element is a mask fill on both sides";
    } else if (!measure_.undefined.empty()) {
      judge_undefined();
    } else if (criterion_.metric == Metric::norm_wise && !criterion_.bound.k) {
      result_.verdict = Verdict::vacuous;
      result_.message = fmt::format("norm_wise has no default bound for {}, give k", name_of(dtype_));
    } else {
      result_.verdict = within_bound() ? Verdict::pass : Verdict::fail;
    }
  }

  /// The metric has no value here: the criterion's max-abs bound decides, and without one nothing was verified.
  void judge_undefined() {
    const std::string reason = fmt::format("{} is undefined: {}", name_of(criterion_.metric), measure_.undefined);
    const auto atol = criterion_.bound.atol;
    if (!atol) {
      result_.verdict = Verdict::vacuous;
      result_.message = reason;
      return;
    }
    const double max_abs = differences_.max_abs.value;
    result_.verdict = max_abs <= *atol ? Verdict::pass : Verdict::fail;
    result_.message = fmt::format("{}; max_abs {:.4g} is {} atol {:.4g}", reason, max_abs,
                                  max_abs <= *atol ? "within" : "above", *atol);
  }

  [[nodiscard]] bool within_bound() const {
    switch (criterion_.metric) {
      case Metric::bits:
        return differences_.bits_differ == 0;
      case Metric::equal:
      case Metric::expect:
        return differences_.values_differ == 0;
      case Metric::close:
        return differences_.not_close == 0;
      case Metric::norm_wise:
        return *measure_.value <= *criterion_.bound.k;
      case Metric::sqnr:
      case Metric::cosine:
      case Metric::pcc:
      case Metric::top1:
      case Metric::topk:
        return *measure_.value >= *criterion_.bound.min;
      default:
        return *measure_.value <= *criterion_.bound.max;
    }
  }

  /// Elements that break the metric's element-wise rule; elements that differ where a metric has none.
  [[nodiscard]] std::int64_t mismatched() const {
    const Differences& d = differences_;
    const std::int64_t unequal_non_finite = d.nan + d.unequal_infinite;
    switch (criterion_.metric) {
      case Metric::bits:
        return d.bits_differ - d.non_finite_bits_differ + refused_non_finite_;
      case Metric::close:
        return d.not_close - unequal_non_finite + refused_non_finite_;
      case Metric::ulp:
        return beyond(Pick::ulp, criterion_.bound.max);
      case Metric::max_abs:
        return beyond(Pick::abs, criterion_.bound.max);
      case Metric::max_rel:
        return beyond(Pick::rel, criterion_.bound.max);
      case Metric::peir:
        return beyond(Pick::abs_not_exempt, criterion_.bound.max);
      case Metric::norm_wise:
        return beyond(Pick::abs_not_exempt, criterion_.bound.k);
      default:
        return d.values_differ - unequal_non_finite + refused_non_finite_;
    }
  }

  [[nodiscard]] std::int64_t beyond(Pick pick, const std::optional<double>& limit) const {
    if (!measure_.value || !limit || *measure_.value <= *limit) return refused_non_finite_;
    return refused_non_finite_ + numeric::count_beyond(sides_.expected, sides_.actual, pick, measure_.scale, *limit);
  }

  [[nodiscard]] std::string failure_message() const {
    switch (criterion_.metric) {
      case Metric::bits:
      case Metric::equal:
      case Metric::expect:
      case Metric::close: {
        const bool signs = criterion_.metric == Metric::bits && differences_.values_differ == 0;
        return messages::differ(result_.mismatched, result_.compared) + (signs ? ", in the sign of zero only" : "");
      }
      case Metric::top1:
      case Metric::topk:
        return messages::rows_disagree(measure_.rows_differ, numeric::Rows(sides_.sizes).count);
      case Metric::sqnr:
      case Metric::cosine:
      case Metric::pcc:
        return messages::below(criterion_.metric, *measure_.value, *criterion_.bound.min);
      case Metric::norm_wise:
        return messages::above(criterion_.metric, *measure_.value, *criterion_.bound.k);
      default:
        return messages::above(criterion_.metric, *measure_.value, *criterion_.bound.max);
    }
  }

  [[nodiscard]] CheckResult::Worst worst() const {
    const bool by_row = refused_non_finite_ == 0 && measure_.differing_row >= 0;
    if (by_row && (criterion_.metric == Metric::top1 || criterion_.metric == Metric::topk)) return worst_top_row();
    std::int64_t flat = 0;
    if (by_row && criterion_.metric == Metric::kl) {
      const numeric::Rows rows(sides_.sizes);
      flat = measure_.differing_row * rows.length +
             numeric::worst_column(sides_.expected, sides_.actual, rows, measure_.differing_row);
    } else {
      flat = worst_element();
    }
    return {numeric::index_of(flat, sides_.sizes), numeric::value_at(sides_.expected, flat),
            numeric::value_at(sides_.actual, flat)};
  }

  [[nodiscard]] std::int64_t worst_element() const {
    const Differences& d = differences_;
    if (d.first_bad_span >= 0) return find(Pick::nan_or_unequal_infinite, d.first_bad_span);
    if (refused_non_finite_ > 0) return find(Pick::non_finite, d.first_non_finite_span);
    if (d.bits_differ == 0) return 0;
    if (d.values_differ == 0) return find(Pick::different_bits, d.first_bits_span);
    switch (criterion_.metric) {
      case Metric::close:
        if (std::isfinite(d.max_ratio.value)) return find(Pick::ratio, d.max_ratio.span);
        break;
      case Metric::ulp:
        return find(Pick::ulp, d.max_ulp.span);
      case Metric::max_rel:
        return find(Pick::rel, d.max_rel.span);
      case Metric::norm_wise:
      case Metric::peir:
        return find(Pick::abs_not_exempt, measure_.span);
      default:
        break;
    }
    return find(Pick::abs, d.max_abs.span);
  }

  [[nodiscard]] std::int64_t find(Pick pick, std::int64_t span) const {
    const numeric::Spans spans(sides_.expected.count());
    return numeric::find_pair(sides_.expected, sides_.actual, spans.begin(span), spans.end(span), pick, tolerance_);
  }

  /// The first row that disagrees, and what each side has on top.
  [[nodiscard]] CheckResult::Worst worst_top_row() const {
    constexpr std::int64_t most_shown = 16;
    const numeric::Rows rows(sides_.sizes);
    const std::int64_t k =
        criterion_.metric == Metric::top1 ? 1 : std::min(most_shown, static_cast<std::int64_t>(*criterion_.bound.k));
    const auto columns = [&](const numeric::Elements& side) -> Value {
      const auto top = numeric::top_columns(side, rows, measure_.differing_row, k);
      if (criterion_.metric == Metric::top1) return top.front();
      return Value::Array(top.begin(), top.end());
    };
    std::vector<std::int64_t> leading = sides_.sizes;
    if (!leading.empty()) leading.pop_back();
    return {numeric::index_of(measure_.differing_row, leading), columns(sides_.expected), columns(sides_.actual)};
  }

  Sides sides_;
  DType dtype_;
  CompareOptions options_;
  Criterion criterion_;
  Tolerance tolerance_;
  Differences differences_;
  Measure measure_;
  std::int64_t refused_non_finite_ = 0;  ///< pairs that fail whatever the metric says
  CheckResult result_;
};

}  // namespace

CheckResult compare(const Tensor& expected, const Tensor& actual, const Criterion& criterion,
                    const CompareOptions& options) {
  if (const auto problem = problem_of(criterion)) throw Error{*problem};
  CheckResult result;
  result.metric = criterion.metric;
  result.bound = effective(criterion, expected.dtype());
  if (expected.sizes() != actual.sizes() || expected.dtype() != actual.dtype()) {
    result.verdict = Verdict::fail;
    result.ladder = "not_comparable";
    result.message = messages::not_comparable(expected, actual);
    return result;
  }
  if (expected.numel() == 0 || same_memory(expected, actual)) {
    result.verdict = Verdict::vacuous;
    result.message = expected.numel() == 0 ? "nothing was compared: there are no elements"
                                           : "nothing was compared: both sides are the same memory";
    return result;
  }
  return Comparison(expected, actual, criterion, options).run();
}

}  // namespace lockstep
