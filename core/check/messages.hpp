#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <lockstep/check.hpp>

#include "check/differences.hpp"

/// The sentences of comparisons. Numbers that matter to a program are in the result's fields.
namespace lockstep::messages {

/// Of a check that its step declares and never called.
inline constexpr std::string_view never_performed = "nothing was compared: the step never performed this check";

/// 20480 -> "20,480"
[[nodiscard]] std::string grouped(std::int64_t number);
[[nodiscard]] std::string differ(std::int64_t mismatched, std::int64_t compared);
[[nodiscard]] std::string rows_disagree(std::int64_t differ, std::int64_t rows);
[[nodiscard]] std::string non_finite(std::int64_t refused, const numeric::Differences& differences);
[[nodiscard]] std::string not_comparable(const Tensor& expected, const Tensor& actual);
[[nodiscard]] std::string above(Metric metric, double value, double bound);
[[nodiscard]] std::string below(Metric metric, double value, double bound);

}  // namespace lockstep::messages
