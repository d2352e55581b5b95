#pragma once

#include <lockstep/check.hpp>

namespace lockstep {

struct CompareOptions {
  NonFinite non_finite = NonFinite::fail;
};

/// Compares two tensors by one criterion: the one place where numbers become a verdict.
///
/// A pure function: the same result for any thread count (see parallel.hpp) and any machine. Streams over the data in
/// blocks, strided inputs included; allocates nothing that grows with a dense comparison. Fills in every field of the
/// result but name, subject, level, on_vacuous, bound_source and expected. The verdict is pass, fail or vacuous: what
/// level and on_vacuous make of it is the caller's business. docs/numerics.md defines every field and metric.
/// Throws Error if `problem_of` finds one.
[[nodiscard]] LOCKSTEP_API CheckResult compare(const Tensor& expected, const Tensor& actual, const Criterion& criterion,
                                               const CompareOptions& options = {});

/// Compares scalars, text and lists exactly; metric `equal`. `compared` counts leaves; numbers of different kinds
/// (integer, real) differ.
[[nodiscard]] LOCKSTEP_API CheckResult compare(const Value& expected, const Value& actual,
                                               const CompareOptions& options = {});

}  // namespace lockstep
