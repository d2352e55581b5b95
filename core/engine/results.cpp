#include "engine/results.hpp"

namespace lockstep {

void Results::publish(const Key& output, std::shared_ptr<const void> value) {
  const auto readers = readers_.find(output);
  if (value != nullptr && readers != readers_.end() && readers->second > 0) values_[output] = std::move(value);
}

std::shared_ptr<const void> Results::read(const Key& output) const {
  const auto value = values_.find(output);
  return value == values_.end() ? nullptr : value->second;
}

void Results::reader_done(const Key& output) {
  const auto readers = readers_.find(output);
  if (readers != readers_.end() && --readers->second <= 0) values_.erase(output);
}

}  // namespace lockstep
