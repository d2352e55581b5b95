#include "steps/cache_checks.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "steps/tensor_rows.hpp"

namespace gemma4 {
namespace {

using namespace lockstep;

constexpr std::size_t slot_axis = 2;

std::string joined(const std::string& subject, std::int64_t layer) {
  return fmt::format("{}{}layer {}", subject, subject.empty() ? "" : " ", layer);
}

}  // namespace

KeptPositions kept_positions(const KvCache::Layer& expected, const KvCache& actual) {
  const auto found = std::ranges::find(actual.layers, expected.index, &KvCache::Layer::index);
  if (found == actual.layers.end()) return {.key = {}, .value = {}, .missing = "the runtime's cache has no such layer"};
  const auto kept = expected.key.size(slot_axis);
  const auto slots = found->key.size(slot_axis);
  if (actual.length > slots || kept > actual.length) {
    return {.key = {},
            .value = {},
            .missing =
                fmt::format("the runtime's cache has {} slots, expected room for {} positions", slots, actual.length)};
  }
  const auto first = actual.length - kept;
  return {.key = narrow(found->key, slot_axis, first, kept),
          .value = narrow(found->value, slot_axis, first, kept),
          .missing = {}};
}

CacheChecks::CacheChecks(Step& step)
    : length_(step, "cache_length", equal(), "positions that the reference has seen"),
      keys_(step, "cache_keys", norm_wise(), "reference's cache, position by position"),
      values_(step, "cache_values", norm_wise(), "reference's cache, position by position") {}

bool CacheChecks::compare(const KvCache& expected, const KvCache& actual, const std::string& subject) {
  bool good = subject.empty() ? length_.equal(Expected{expected.length}, Actual{actual.length})
                              : length_.at(subject).equal(Expected{expected.length}, Actual{actual.length});
  if (!good) return false;
  for (const auto& layer : expected.layers) good = compare_layer(layer, actual, joined(subject, layer.index)) && good;
  return good;
}

bool CacheChecks::compare_layer(const KvCache::Layer& expected, const KvCache& actual, const std::string& subject) {
  const auto kept = kept_positions(expected, actual);
  if (!kept.missing.empty()) return keys_.at(subject).expect(false, kept.missing);
  const bool keys = keys_.at(subject).compare(Expected{expected.key}, Actual{kept.key});
  const bool values = values_.at(subject).compare(Expected{expected.value}, Actual{kept.value});
  return keys && values;
}

}  // namespace gemma4
