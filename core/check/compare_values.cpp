#include <cmath>

#include <fmt/format.h>

#include "check/compare.hpp"

namespace lockstep {
namespace {

bool is_non_finite(const Value& value) {
  const auto* number = std::get_if<double>(&value.data);
  return number != nullptr && !std::isfinite(*number);
}

/// Walks both sides together and keeps the first place where they differ.
struct Walk {
  CheckResult& result;
  NonFinite non_finite;
  std::vector<std::int64_t> index = {};
  std::int64_t non_finite_count = 0;

  void visit(const Value& expected, const Value& actual) {
    const auto* e = std::get_if<Value::Array>(&expected.data);
    const auto* a = std::get_if<Value::Array>(&actual.data);
    if (e != nullptr && a != nullptr) return visit_lists(*e, *a);
    ++result.compared;
    const bool refused = non_finite == NonFinite::fail && (is_non_finite(expected) || is_non_finite(actual));
    if (refused) ++non_finite_count;
    if (refused || !(expected == actual)) mismatch(expected, actual);
  }

  void visit_lists(const Value::Array& e, const Value::Array& a) {
    for (std::size_t i = 0; i < std::max(e.size(), a.size()); ++i) {
      index.push_back(static_cast<std::int64_t>(i));
      if (i < e.size() && i < a.size()) {
        visit(e[i], a[i]);
      } else {
        ++result.compared;
        mismatch(i < e.size() ? e[i] : Value(), i < a.size() ? a[i] : Value());
      }
      index.pop_back();
    }
  }

  void mismatch(const Value& expected, const Value& actual) {
    if (result.mismatched++ == 0) result.worst = {index, expected, actual};
  }
};

std::string describe(const Value& expected, const Value& actual, const CheckResult& result, std::int64_t non_finite) {
  const auto* e = std::get_if<Value::Array>(&expected.data);
  const auto* a = std::get_if<Value::Array>(&actual.data);
  if (e != nullptr && a != nullptr && e->size() != a->size()) {
    return fmt::format("expected {} elements, found {}", e->size(), a->size());
  }
  if (non_finite > 0) return fmt::format("{} of {} are not finite", non_finite, result.compared);
  if (e != nullptr && a != nullptr) return fmt::format("{} of {} differ", result.mismatched, result.compared);
  return fmt::format("expected {}, found {}", to_text(expected), to_text(actual));
}

}  // namespace

CheckResult compare(const Value& expected, const Value& actual, const CompareOptions& options) {
  CheckResult result;
  result.metric = Metric::equal;
  Walk walk{result, options.non_finite};
  walk.visit(expected, actual);
  if (result.compared == 0) {
    result.verdict = Verdict::vacuous;
    result.message = "nothing was compared: both lists are empty";
    return result;
  }
  result.verdict = result.mismatched == 0 ? Verdict::pass : Verdict::fail;
  if (result.mismatched > 0) result.message = describe(expected, actual, result, walk.non_finite_count);
  return result;
}

}  // namespace lockstep
