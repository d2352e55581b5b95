#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include <lockstep/value.hpp>

#include "check/elements.hpp"

/// Metrics over the last axis. A 0-d or 1-d tensor is one row. NaN must be absent.
namespace lockstep::numeric {

struct Rows {
  explicit Rows(const std::vector<std::int64_t>& sizes);
  std::int64_t count;
  std::int64_t length;
};

/// e.a / (|e||a|), clamped to [-1, 1]; both zero: 1, one zero: 0.
[[nodiscard]] double cosine_of(double dot, double squares_expected, double squares_actual);

struct WorstRow {
  double value;
  std::int64_t row;
};
/// The smallest cosine of a row, and the first row that has it.
[[nodiscard]] WorstRow smallest_row_cosine(const Elements& expected, const Elements& actual, const Rows& rows);

/// KL(softmax e || softmax a) of each row in nats; inf where a value is impossible under `a` and possible under `e`.
[[nodiscard]] std::vector<double> row_divergences(const Elements& expected, const Elements& actual, const Rows& rows);
/// The column that adds most to a row's divergence.
[[nodiscard]] std::int64_t worst_column(const Elements& expected, const Elements& actual, const Rows& rows,
                                        std::int64_t row);

struct TopAgreement {
  std::int64_t agree = 0;
  std::int64_t first_differing_row = -1;
  double smallest_margin = std::numeric_limits<double>::infinity();  ///< k-th minus next expected value, in spacings
  double largest_differing_margin = 0;                               ///< the same over the rows that disagree
  void merge(const TopAgreement& later);
};
/// `first_of_equals`: the columns of the first largest values must be the same (k = 1). Else the sets of the k largest
/// must be the same for some way to break ties on each side. 1 <= k < rows.length.
[[nodiscard]] TopAgreement compare_top(const Elements& expected, const Elements& actual, const Rows& rows,
                                       std::int64_t k, bool first_of_equals);
/// The columns of a row's k largest values, largest first, the first of equals first.
[[nodiscard]] std::vector<std::int64_t> top_columns(const Elements& elements, const Rows& rows, std::int64_t row,
                                                    std::int64_t k);

}  // namespace lockstep::numeric
