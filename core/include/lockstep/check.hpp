#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lockstep/tensor.hpp>
#include <lockstep/value.hpp>

namespace lockstep {

class Step;

enum class Metric {
  close,
  bits,
  ulp,
  peir,
  max_abs,
  max_rel,
  mean_abs,
  rmse,
  sqnr,
  cosine,
  pcc,
  kl,
  top1,
  topk,
  norm_wise,
  equal,
  expect
};
enum class Level { require, inform, off };
enum class Verdict { pass, fail, warn, vacuous };
/// What a vacuous check of level `require` does to the run.
enum class OnVacuous { fail, warn, allow };
/// `fail`: any NaN or infinity on either side fails. `match`: torch's rule, equal infinities pass, NaN never.
enum class NonFinite { fail, match };

[[nodiscard]] LOCKSTEP_API std::string_view name_of(Metric metric) noexcept;
[[nodiscard]] LOCKSTEP_API std::string_view name_of(Level level) noexcept;
[[nodiscard]] LOCKSTEP_API std::string_view name_of(Verdict verdict) noexcept;

/// The bound of a metric; which keys apply depends on the metric, see `keys_of`.
///
/// close: rtol, atol (both or neither; neither: torch's defaults of the dtype). ulp, peir, max_abs, max_rel, mean_abs,
/// rmse, kl: max. sqnr (dB), cosine, pcc, top1, topk: min (top1/topk: share of rows that agree). topk: k.
/// norm_wise: k (none: 6e-2 for bfloat16, 1e-5 for float32). peir, pcc, sqnr, cosine, kl also take atol, the max-abs
/// bound that they fall back to where the metric is undefined.
struct Bound {
  std::optional<double> rtol = std::nullopt;
  std::optional<double> atol = std::nullopt;
  std::optional<double> max = std::nullopt;
  std::optional<double> min = std::nullopt;
  std::optional<double> k = std::nullopt;
  friend bool operator==(const Bound&, const Bound&) = default;
};
/// Every bound key, in the order in which bounds are shown.
inline constexpr std::array<std::pair<std::string_view, std::optional<double> Bound::*>, 5> bound_members{
    {{"rtol", &Bound::rtol}, {"atol", &Bound::atol}, {"max", &Bound::max}, {"min", &Bound::min}, {"k", &Bound::k}}};
/// The metrics that compare two tensors.
inline constexpr std::array tensor_metrics{Metric::close,   Metric::bits,    Metric::ulp,      Metric::peir,
                                           Metric::max_abs, Metric::max_rel, Metric::mean_abs, Metric::rmse,
                                           Metric::sqnr,    Metric::cosine,  Metric::pcc,      Metric::kl,
                                           Metric::top1,    Metric::topk,    Metric::norm_wise};
/// The bound keys that `metric` understands.
[[nodiscard]] LOCKSTEP_API std::vector<std::string_view> keys_of(Metric metric);

/// A metric with its bound: what a check demands.
struct Criterion {
  Metric metric = Metric::bits;
  Bound bound = {};
};
/// What is wrong with a criterion on its own ("close takes rtol and atol together"); none if it can be used.
[[nodiscard]] LOCKSTEP_API std::optional<std::string> problem_of(const Criterion& criterion);
/// What is wrong with `value` as what a user gives for bound `key` of `metric` ("is infinite, which every value
/// satisfies"); none if it can be used. Pipelines and the command line refuse the same bounds.
[[nodiscard]] LOCKSTEP_API std::optional<std::string> problem_of_bound(Metric metric, std::string_view key,
                                                                       double value);

/// Same bits; -0 and +0 differ.
inline Criterion bits() { return {Metric::bits, {}}; }
/// torch.testing.assert_close with its default tolerances of the dtype.
inline Criterion close() { return {Metric::close, {}}; }
inline Criterion close(double rtol, double atol) { return {Metric::close, {.rtol = rtol, .atol = atol}}; }
/// Largest distance in units in the last place.
inline Criterion ulp(double max) { return {Metric::ulp, {.max = max}}; }
/// max|e - a| / (max e - min e), a fraction. Source: TICO's peak-error-to-interval ratio.
inline Criterion peir(double max) { return {Metric::peir, {.max = max}}; }
inline Criterion max_abs(double max) { return {Metric::max_abs, {.max = max}}; }
inline Criterion max_rel(double max) { return {Metric::max_rel, {.max = max}}; }
inline Criterion mean_abs(double max) { return {Metric::mean_abs, {.max = max}}; }
inline Criterion rmse(double max) { return {Metric::rmse, {.max = max}}; }
/// 10 log10(sum e^2 / sum (e-a)^2), at least `min` dB; the reference is the signal.
inline Criterion sqnr(double min) { return {Metric::sqnr, {.min = min}}; }
inline Criterion cosine(double min) { return {Metric::cosine, {.min = min}}; }
inline Criterion pcc(double min) { return {Metric::pcc, {.min = min}}; }
/// KL(softmax e || softmax a) in nats over the last axis; the largest row.
inline Criterion kl(double max) { return {Metric::kl, {.max = max}}; }
/// Share of rows whose arg max agrees.
inline Criterion top1(double min = 1.0) { return {Metric::top1, {.min = min}}; }
/// Share of rows whose top-k sets agree, closed under ties.
inline Criterion topk(int k, double min = 1.0) { return {Metric::topk, {.min = min, .k = k}}; }
/// max|a - e| <= k * max|e|: the bound across machines.
inline Criterion norm_wise() { return {Metric::norm_wise, {}}; }
inline Criterion norm_wise(double k) { return {Metric::norm_wise, {.k = k}}; }
/// Scalars, text and lists.
inline Criterion equal() { return {Metric::equal, {}}; }
/// A condition with a message.
inline Criterion expect() { return {Metric::expect, {}}; }

/// What is right. A type of its own, so that swapping it with Actual does not compile.
template <class T>
struct Expected {
  T value;
};
template <class T>
Expected(T) -> Expected<T>;
/// What is verified.
template <class T>
struct Actual {
  T value;
};
template <class T>
Actual(T) -> Actual<T>;

/// One comparison's outcome; one entry of "checks" in the run record.
struct CheckResult {
  struct Worst {
    std::vector<std::int64_t> index;
    Value expected;
    Value actual;
  };

  std::string name;
  std::optional<std::string> subject;  ///< "layer 3"
  Metric metric = Metric::bits;
  Level level = Level::require;
  std::optional<Verdict> verdict;
  OnVacuous on_vacuous = OnVacuous::fail;
  std::optional<double> value;  ///< of the metric; none where it is undefined or has none
  Bound bound;                  ///< the effective one, defaults filled in
  std::string bound_source;     ///< "file:line:column", or "default" for the step's own
  std::int64_t compared = 0;    ///< elements
  std::int64_t mismatched = 0;
  std::optional<std::string>
      ladder;  ///< "bits_equal", "signed_zero", "ulp", "close", "far", "non_finite", "not_comparable"
  std::optional<std::string> message;
  std::string expected;  ///< what the expected side is
  std::vector<std::pair<std::string, double>> statistics;
  std::optional<Worst> worst;
};

/// What `describe` and the docs know about a check.
struct CheckInfo {
  std::string name;
  Criterion criterion;
  Level level = Level::require;
  std::string doc;  ///< what the expected side is
};

/// What the pipeline file says about a check; the binder fills it in.
struct CheckSettings {
  Bound bound;
  Level level = Level::require;
  OnVacuous on_vacuous = OnVacuous::fail;
  NonFinite non_finite = NonFinite::fail;
  std::string bound_source = "default";
};

/// A check of a step; declares itself to the step that it is a member of. Each call adds one entry to the record.
/// ```cpp
/// Check matches_reference{*this, "matches_reference", close(), "reference's token embedding"};
/// …
/// matches_reference.compare(Expected{reference->embed(ids)}, Actual{embeds});
/// matches_reference.at("layer", 3).compare(…);     // one entry per subject
/// count.equal(Expected{64}, Actual{found});        // scalars, text, lists
/// span.expect(end <= max_seq, "the image ends at 300, max_seq is 256");
/// ```
/// Declared and never called: VACUOUS. Not thread-safe.
class LOCKSTEP_API Check {
 public:
  Check(Step& step, std::string name, Criterion criterion, std::string doc, Level level = Level::require);
  Check(const Check&) = delete;
  Check& operator=(const Check&) = delete;

  /// A check with a subject; lives no longer than its Check.
  class At {
   public:
    template <class E, class A>
    bool compare(const Expected<E>& expected, const Actual<A>& actual) {
      return check_.add_tensors(std::move(subject_), Tensor(expected.value), Tensor(actual.value));
    }
    /// By a criterion of the subject's own in place of the check's; `bound_source` says where it was written.
    template <class E, class A>
    bool compare(const Expected<E>& expected, const Actual<A>& actual, const Criterion& criterion,
                 std::string bound_source) {
      return check_.add_tensors(std::move(subject_), Tensor(expected.value), Tensor(actual.value), criterion,
                                std::move(bound_source));
    }
    template <class E, class A>
    bool equal(const Expected<E>& expected, const Actual<A>& actual) {
      return check_.add_values(std::move(subject_), to_value(expected.value), to_value(actual.value));
    }
    bool expect(bool condition, std::string message) {
      return check_.add_condition(std::move(subject_), condition, std::move(message));
    }

   private:
    friend class Check;
    At(Check& check, std::optional<std::string> subject) : check_(check), subject_(std::move(subject)) {}
    Check& check_;
    std::optional<std::string> subject_;
  };

  /// "layer 3"
  [[nodiscard]] At at(std::string_view what, std::int64_t index);
  [[nodiscard]] At at(std::string subject);
  /// Tensors, by the check's criterion. True unless the entry is a fail or a warn. Shapes never broadcast.
  template <class E, class A>
  bool compare(const Expected<E>& expected, const Actual<A>& actual) {
    return At(*this, std::nullopt).compare(expected, actual);
  }
  /// Scalars, text, lists: exact.
  template <class E, class A>
  bool equal(const Expected<E>& expected, const Actual<A>& actual) {
    return At(*this, std::nullopt).equal(expected, actual);
  }
  /// `message` says what was found and what was expected; it is shown if the condition is false.
  bool expect(bool condition, std::string message) {
    return At(*this, std::nullopt).expect(condition, std::move(message));
  }

  [[nodiscard]] const CheckInfo& info() const noexcept { return info_; }
  [[nodiscard]] const CheckSettings& settings() const noexcept { return settings_; }
  [[nodiscard]] const std::vector<CheckResult>& results() const noexcept { return results_; }

  /// Belong to the binder, the engine and test benches.
  void configure(CheckSettings settings) { settings_ = std::move(settings); }
  /// Takes over the entries that this check has made in another process.
  void restore(std::vector<CheckResult> results) { results_ = std::move(results); }
  /// Adds the VACUOUS entry of a check that was declared and never performed.
  void close_if_never_performed();

 private:
  template <class T>
  static Value to_value(const T& v) {
    if constexpr (std::is_constructible_v<Value, const T&> && !std::is_integral_v<T>)
      return Value(v);
    else if constexpr (std::is_same_v<T, bool>)
      return Value(v);
    else if constexpr (std::is_integral_v<T>)
      return Value(static_cast<std::int64_t>(v));
    else if constexpr (std::is_convertible_v<const T&, std::string_view>)
      return Value(std::string(std::string_view(v)));
    else {
      Value::Array list;
      for (const auto& element : v) list.push_back(to_value(static_cast<typename T::value_type>(element)));
      return list;
    }
  }

  bool add_tensors(std::optional<std::string> subject, const Tensor& expected, const Tensor& actual);
  bool add_tensors(std::optional<std::string> subject, const Tensor& expected, const Tensor& actual,
                   const Criterion& criterion, std::string bound_source);
  bool add_values(std::optional<std::string> subject, const Value& expected, const Value& actual);
  bool add_condition(std::optional<std::string> subject, bool condition, std::string message);
  bool add(std::optional<std::string> subject, CheckResult result);
  bool add(std::optional<std::string> subject, CheckResult result, std::string bound_source);

  CheckInfo info_;
  CheckSettings settings_;
  std::vector<CheckResult> results_;
};

}  // namespace lockstep
