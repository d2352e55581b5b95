#include "steps/pass_checks.hpp"

#include <fmt/format.h>

#include "steps/tensor_rows.hpp"

namespace gemma4 {

using namespace lockstep;

PassChecks::PassChecks(Step& step, const std::string& name, const Criterion& criterion, const std::string& expected)
    : logits_(step, name + "_logits", criterion, "logits of " + expected),
      cache_(step, name + "_cache", criterion, "cache of " + expected) {}

void PassChecks::compare(const std::string& subject, const Pass& expected, const Pass& actual) {
  logits_.at(subject).compare(Expected{expected.logits}, Actual{actual.logits});
  const auto right = expected.session->snapshot();
  const auto found = actual.session->snapshot();
  if (right.length != found.length || right.layers.size() != found.layers.size()) {
    cache_.at(subject).expect(false, fmt::format("the cache has {} positions of {} layers, expected {} of {}",
                                                 found.length, found.layers.size(), right.length, right.layers.size()));
    return;
  }
  for (std::size_t i = 0; i < right.layers.size(); ++i) {
    const auto valid = [&](const Tensor& slots) { return narrow(slots, 2, 0, right.length); };
    const auto name = fmt::format("{} layer {}", subject, right.layers[i].index);
    cache_.at(name + " keys").compare(Expected{valid(right.layers[i].key)}, Actual{valid(found.layers[i].key)});
    cache_.at(name + " values").compare(Expected{valid(right.layers[i].value)}, Actual{valid(found.layers[i].value)});
  }
}

void PassChecks::leave_out() {
  for (auto* check : {&logits_, &cache_}) check->configure({.level = Level::off});
}

}  // namespace gemma4
