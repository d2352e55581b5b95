#include "check/messages.hpp"

#include <fmt/format.h>

namespace lockstep::messages {
namespace {

/// The digits, 4 or more, that tell a value from its bound.
int digits_apart(double value, double bound) {
  constexpr int enough = 17;  // tells any two doubles apart
  int digits = 4;
  while (digits < enough && fmt::format("{:.{}g}", value, digits) == fmt::format("{:.{}g}", bound, digits)) ++digits;
  return digits;
}

}  // namespace

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (auto place = static_cast<std::ptrdiff_t>(digits.size()) - 3; place > (number < 0 ? 1 : 0); place -= 3) {
    digits.insert(static_cast<std::size_t>(place), 1, ',');
  }
  return digits;
}

std::string differ(std::int64_t mismatched, std::int64_t compared) {
  return fmt::format("{} of {} differ", grouped(mismatched), grouped(compared));
}

std::string rows_disagree(std::int64_t differ, std::int64_t rows) {
  return fmt::format("{} of {} rows disagree", grouped(differ), grouped(rows));
}

std::string non_finite(std::int64_t refused, const numeric::Differences& differences) {
  return fmt::format("{} of {} are NaN or infinite ({} expected, {} actual)", grouped(refused),
                     grouped(differences.count), grouped(differences.non_finite_expected),
                     grouped(differences.non_finite_actual));
}

std::string not_comparable(const Tensor& expected, const Tensor& actual) {
  if (expected.sizes() == actual.sizes()) {
    return fmt::format("dtypes differ: expected {}, found {}", name_of(expected.dtype()), name_of(actual.dtype()));
  }
  if (expected.dtype() == actual.dtype()) {
    return fmt::format("shapes differ: expected {}, found {}", shape_text(expected.sizes()),
                       shape_text(actual.sizes()));
  }
  return fmt::format("shapes and dtypes differ: expected {}, found {}", expected.to_string(), actual.to_string());
}

std::string above(Metric metric, double value, double bound) {
  return fmt::format("{0} is {1:.{3}g}, at most {2:.{3}g} is allowed", name_of(metric), value, bound,
                     digits_apart(value, bound));
}

std::string below(Metric metric, double value, double bound) {
  return fmt::format("{0} is {1:.{3}g}, at least {2:.{3}g} is required", name_of(metric), value, bound,
                     digits_apart(value, bound));
}

}  // namespace lockstep::messages
