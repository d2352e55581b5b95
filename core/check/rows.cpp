#include "check/rows.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "check/moments.hpp"
#include "check/parallel.hpp"

namespace lockstep::numeric {
namespace {

constexpr double positive_infinity = std::numeric_limits<double>::infinity();

/// Rows in at most 1024 consecutive groups; depends on the number of rows only.
struct Groups {
  explicit Groups(std::int64_t rows) : length(std::max<std::int64_t>(1, (rows + 1023) / 1024)), rows_(rows) {
    count = (rows + length - 1) / length;
  }
  template <class F>
  void for_rows(std::int64_t group, F&& f) const {
    for (std::int64_t row = group * length; row < std::min(rows_, (group + 1) * length); ++row) f(row);
  }
  std::int64_t length;
  std::int64_t count;

 private:
  std::int64_t rows_;
};

/// Calls `f(first column, e, a, n)` for each block of a row.
template <class F>
void for_row_blocks(const Elements& expected, const Elements& actual, const Rows& rows, std::int64_t row, F&& f) {
  Scratch scratch;
  alignas(64) double e[block_size];
  alignas(64) double a[block_size];
  for (std::int64_t column = 0; column < rows.length; column += block_size) {
    const std::int64_t n = std::min(block_size, rows.length - column);
    const std::int64_t first = row * rows.length + column;
    decode(expected.dtype(), expected.read(first, n, scratch), n, e);
    decode(actual.dtype(), actual.read(first, n, scratch), n, a);
    f(column, e, a, n);
  }
}

struct Softmax {
  double largest = -positive_infinity;
  double log_sum = 0;
  [[nodiscard]] double log_probability(double logit) const { return logit - largest - log_sum; }
};

struct SoftmaxPair {
  Softmax e;
  Softmax a;
};

SoftmaxPair softmax_of_row(const Elements& expected, const Elements& actual, const Rows& rows, std::int64_t row) {
  SoftmaxPair pair;
  for_row_blocks(expected, actual, rows, row, [&](std::int64_t, const double* e, const double* a, std::int64_t n) {
    pair.e.largest = std::max(pair.e.largest, *std::max_element(e, e + n));
    pair.a.largest = std::max(pair.a.largest, *std::max_element(a, a + n));
  });
  double sum_e = 0;
  double sum_a = 0;
  for_row_blocks(expected, actual, rows, row, [&](std::int64_t, const double* e, const double* a, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      sum_e += std::exp(e[i] - pair.e.largest);
      sum_a += std::exp(a[i] - pair.a.largest);
    }
  });
  pair.e.log_sum = std::log(sum_e);
  pair.a.log_sum = std::log(sum_a);
  return pair;
}

/// p log(p/q); nothing where p is 0.
double divergence_term(const SoftmaxPair& pair, double e, double a) {
  const double log_p = pair.e.log_probability(e);
  const double p = std::exp(log_p);
  return p == 0 ? 0 : p * (log_p - pair.a.log_probability(a));
}

/// The distance to the next larger magnitude of the dtype; 1 for integers.
double spacing(DType dtype, double value) {
  struct Shape {
    int mantissa_bits;
    int smallest_exponent;
  };
  const auto shape = [&]() -> Shape {
    switch (dtype) {
      case DType::float8_e4m3fn:
        return {3, -6};
      case DType::float8_e4m3fnuz:
        return {3, -7};
      case DType::float8_e5m2:
        return {2, -14};
      case DType::float8_e5m2fnuz:
        return {2, -15};
      case DType::float8_e8m0fnu:
        return {0, -127};
      case DType::float16:
        return {10, -14};
      case DType::bfloat16:
        return {7, -126};
      case DType::float32:
        return {23, -126};
      default:
        return {52, -1022};
    }
  }();
  if (!is_floating_point(dtype)) return 1;
  const int exponent = value == 0 ? shape.smallest_exponent : std::max(std::ilogb(value), shape.smallest_exponent);
  return std::ldexp(1.0, exponent - shape.mantissa_bits);
}

/// The k largest values seen so far.
class Largest {
 public:
  explicit Largest(std::int64_t k) : k_(static_cast<std::size_t>(k)) {}
  void add(double value) {
    if (heap_.size() < k_) {
      heap_.push_back(value);
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    } else if (value > heap_.front()) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      heap_.back() = value;
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    }
  }
  /// The smallest of them.
  [[nodiscard]] double threshold() const { return heap_.front(); }
  /// The second smallest: the k-th largest of k + 1.
  [[nodiscard]] double above_threshold() const {
    if (heap_.size() == 2) return heap_[1];
    return std::min(heap_[1], heap_[2]);
  }

 private:
  std::size_t k_;
  std::vector<double> heap_;
};

/// Is there a set of k columns that both sides can call their k largest?
bool sets_agree(const Elements& expected, const Elements& actual, const Rows& rows, std::int64_t row, std::int64_t k,
                double threshold_e, double threshold_a) {
  std::int64_t required = 0;
  std::int64_t allowed = 0;
  bool contradiction = false;
  for_row_blocks(expected, actual, rows, row, [&](std::int64_t, const double* e, const double* a, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      const bool is_required = e[i] > threshold_e || a[i] > threshold_a;
      const bool is_allowed = e[i] >= threshold_e && a[i] >= threshold_a;
      contradiction |= is_required && !is_allowed;
      required += is_required ? 1 : 0;
      allowed += is_allowed ? 1 : 0;
    }
  });
  return !contradiction && required <= k && k <= allowed;
}

TopAgreement compare_row(const Elements& expected, const Elements& actual, const Rows& rows, std::int64_t row,
                         std::int64_t k, bool first_of_equals) {
  Largest largest_e(k + 1);
  Largest largest_a(k + 1);
  std::int64_t first_e = 0;
  std::int64_t first_a = 0;
  double best_e = -positive_infinity;
  double best_a = -positive_infinity;
  for_row_blocks(expected, actual, rows, row,
                 [&](std::int64_t column, const double* e, const double* a, std::int64_t n) {
                   for (std::int64_t i = 0; i < n; ++i) {
                     largest_e.add(e[i]);
                     largest_a.add(a[i]);
                     if (e[i] > best_e) {
                       best_e = e[i];
                       first_e = column + i;
                     }
                     if (a[i] > best_a) {
                       best_a = a[i];
                       first_a = column + i;
                     }
                   }
                 });
  const double threshold = largest_e.above_threshold();
  const bool agree = first_of_equals
                         ? first_e == first_a
                         : sets_agree(expected, actual, rows, row, k, threshold, largest_a.above_threshold());
  TopAgreement result;
  result.agree = agree ? 1 : 0;
  const bool tied = threshold == largest_e.threshold();  // also where both are infinite
  result.smallest_margin = tied ? 0 : (threshold - largest_e.threshold()) / spacing(expected.dtype(), threshold);
  if (!agree) {
    result.first_differing_row = row;
    result.largest_differing_margin = result.smallest_margin;
  }
  return result;
}

}  // namespace

Rows::Rows(const std::vector<std::int64_t>& sizes) : count(1), length(sizes.empty() ? 1 : sizes.back()) {
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) count *= sizes[i];
}

double cosine_of(double dot, double squares_expected, double squares_actual) {
  if (squares_expected == 0 && squares_actual == 0) return 1;
  if (squares_expected == 0 || squares_actual == 0) return 0;
  return std::clamp(dot / (std::sqrt(squares_expected) * std::sqrt(squares_actual)), -1.0, 1.0);
}

WorstRow smallest_row_cosine(const Elements& expected, const Elements& actual, const Rows& rows) {
  const Groups groups(rows.count);
  std::vector<WorstRow> parts(static_cast<std::size_t>(groups.count), WorstRow{positive_infinity, 0});
  parallel_for(groups.count, expected.count(), [&](std::int64_t group) {
    WorstRow& worst = parts[static_cast<std::size_t>(group)];
    groups.for_rows(group, [&](std::int64_t row) {
      double dot = 0;
      double squares_e = 0;
      double squares_a = 0;
      for_row_blocks(expected, actual, rows, row, [&](std::int64_t, const double* e, const double* a, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) {
          dot += e[i] * a[i];
          squares_e += e[i] * e[i];
          squares_a += a[i] * a[i];
        }
      });
      const double value = cosine_of(dot, squares_e, squares_a);
      if (value < worst.value) worst = {value, row};
    });
  });
  WorstRow all{positive_infinity, 0};
  for (const WorstRow& part : parts) {
    if (part.value < all.value) all = part;
  }
  return all;
}

std::vector<double> row_divergences(const Elements& expected, const Elements& actual, const Rows& rows) {
  const Groups groups(rows.count);
  std::vector<double> result(static_cast<std::size_t>(rows.count));
  parallel_for(groups.count, expected.count(), [&](std::int64_t group) {
    groups.for_rows(group, [&](std::int64_t row) {
      const SoftmaxPair pair = softmax_of_row(expected, actual, rows, row);
      double sum = 0;
      for_row_blocks(expected, actual, rows, row, [&](std::int64_t, const double* e, const double* a, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) sum += divergence_term(pair, e[i], a[i]);
      });
      result[static_cast<std::size_t>(row)] = sum < 0 ? 0 : sum;  // below zero by rounding only
    });
  });
  return result;
}

std::int64_t worst_column(const Elements& expected, const Elements& actual, const Rows& rows, std::int64_t row) {
  const SoftmaxPair pair = softmax_of_row(expected, actual, rows, row);
  std::int64_t worst = 0;
  double largest = 0;
  for_row_blocks(expected, actual, rows, row,
                 [&](std::int64_t column, const double* e, const double* a, std::int64_t n) {
                   for (std::int64_t i = 0; i < n; ++i) {
                     const double term = std::fabs(divergence_term(pair, e[i], a[i]));
                     if (term > largest) {
                       largest = term;
                       worst = column + i;
                     }
                   }
                 });
  return worst;
}

void TopAgreement::merge(const TopAgreement& later) {
  agree += later.agree;
  if (first_differing_row < 0) first_differing_row = later.first_differing_row;
  smallest_margin = std::min(smallest_margin, later.smallest_margin);
  largest_differing_margin = std::max(largest_differing_margin, later.largest_differing_margin);
}

TopAgreement compare_top(const Elements& expected, const Elements& actual, const Rows& rows, std::int64_t k,
                         bool first_of_equals) {
  const Groups groups(rows.count);
  std::vector<TopAgreement> parts(static_cast<std::size_t>(groups.count));
  parallel_for(groups.count, expected.count(), [&](std::int64_t group) {
    TopAgreement& part = parts[static_cast<std::size_t>(group)];
    groups.for_rows(
        group, [&](std::int64_t row) { part.merge(compare_row(expected, actual, rows, row, k, first_of_equals)); });
  });
  TopAgreement all;
  for (const TopAgreement& part : parts) all.merge(part);
  return all;
}

std::vector<std::int64_t> top_columns(const Elements& elements, const Rows& rows, std::int64_t row, std::int64_t k) {
  std::vector<double> values(static_cast<std::size_t>(rows.length));
  std::vector<std::int64_t> columns(values.size());
  for_row_blocks(elements, elements, rows, row,
                 [&](std::int64_t column, const double* e, const double*, std::int64_t n) {
                   for (std::int64_t i = 0; i < n; ++i) {
                     values[static_cast<std::size_t>(column + i)] = e[i];
                     columns[static_cast<std::size_t>(column + i)] = column + i;
                   }
                 });
  const auto before = [&](std::int64_t x, std::int64_t y) {
    const double vx = values[static_cast<std::size_t>(x)];
    const double vy = values[static_cast<std::size_t>(y)];
    return vx != vy ? vx > vy : x < y;
  };
  std::partial_sort(columns.begin(), columns.begin() + k, columns.end(), before);
  columns.resize(static_cast<std::size_t>(k));
  return columns;
}

}  // namespace lockstep::numeric
