#include "report/criterion_text.hpp"

#include <fmt/format.h>

namespace lockstep {

std::string bound_text(const Bound& bound) {
  std::string text;
  const auto add = [&text](const char* key, const std::optional<double>& value) {
    if (value) text += fmt::format("{}{} {:g}", text.empty() ? "" : ", ", key, *value);
  };
  add("rtol", bound.rtol);
  add("atol", bound.atol);
  add("max", bound.max);
  add("min", bound.min);
  add("k", bound.k);
  return text;
}

std::string criterion_text(const Criterion& criterion) {
  const auto bound = bound_text(criterion.bound);
  return bound.empty() ? std::string(name_of(criterion.metric))
                       : fmt::format("{} ({})", name_of(criterion.metric), bound);
}

}  // namespace lockstep
