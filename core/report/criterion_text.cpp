#include "report/criterion_text.hpp"

#include <fmt/format.h>

namespace lockstep {

std::string bound_text(const Bound& bound) {
  std::string text;
  for (const auto& [key, member] : bound_members)
    if (const auto& value = bound.*member) text += fmt::format("{}{} {:g}", text.empty() ? "" : ", ", key, *value);
  return text;
}

std::string criterion_text(const Criterion& criterion) {
  const auto bound = bound_text(criterion.bound);
  return bound.empty() ? std::string(name_of(criterion.metric))
                       : fmt::format("{} ({})", name_of(criterion.metric), bound);
}

}  // namespace lockstep
