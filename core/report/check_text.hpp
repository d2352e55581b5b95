#pragma once

#include <optional>
#include <string>

#include <lockstep/check.hpp>

namespace lockstep {

/// "matches_reference layer 3"
[[nodiscard]] std::string title_of(const CheckResult& check);

/// What came out, in one line: "bits equal (20,480)", "1,024 of 20,480 differ", "0.031 > 0.020 (inform)".
[[nodiscard]] LOCKSTEP_API std::string outcome_of(const CheckResult& check);

/// "worst at [0, 65, 3]: expected -0.4131 (reference's token embedding), actual 0.3984"; none for what passed.
[[nodiscard]] LOCKSTEP_API std::optional<std::string> worst_of(const CheckResult& check);

/// The bound that a value is held against, and on which side of it the value has to stay.
struct Limit {
  double bound;
  bool at_least;
};
/// None where the value is not held against one number. A value of `close` counts in tolerances: its limit is 1.
[[nodiscard]] std::optional<Limit> limit_of(const CheckResult& check);

/// "0.31 of 1", "0.012 <= 0.020", "0.91 < 0.99": the value of the metric against its bound; "" if it has neither.
[[nodiscard]] std::string value_against_bound(const CheckResult& check);

/// Vacuous because the step never performed the check, where that is not allowed.
[[nodiscard]] bool is_unreached(const CheckResult& check);

/// Passed, or vacuous where that is allowed.
[[nodiscard]] bool is_fine(const CheckResult& check);

}  // namespace lockstep
