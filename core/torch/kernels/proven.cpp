#include "kernels/proven.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/products.hpp"

namespace lockstep::kernels {
namespace {

std::int64_t power_of_two(std::int64_t size) { return std::bit_width(static_cast<std::uint64_t>(size)); }

/// Enough of the shape for every path through it, small enough for a second or two over all classes of a model.
ProductShape reduced(const ProductShape& shape) {
  constexpr std::int64_t rows = 47, columns = 4096, batches = 2;
  return {std::min(shape.batch, batches), std::min(shape.m, rows), std::min(shape.n, columns), shape.k};
}

}  // namespace

Proven::ShapeClass Proven::class_of(Form form, const ProductShape& shape) {
  const auto rows = shape.m == 1 ? 1 : shape.m < panel_rows_from ? 2 : 3;
  if (form == Form::linear) return {form, rows, shape.n, shape.k};
  if (form == Form::transposed) return {form, rows, power_of_two(shape.n), shape.k};
  return {form, rows, shape.n, power_of_two(shape.k) * 4 + shape.k % 4};
}

bool Proven::covers(Form form, const ProductShape& shape, const Product& fast, const Product& right) {
  const std::lock_guard lock(mutex_);
  if (refused_.contains(form)) return false;
  const auto key = class_of(form, shape);
  if (proved_.contains(key)) return true;
  if (auto difference = find_difference(form, reduced(shape), fast, right)) {
    refused_.emplace(form, std::move(*difference));
    return false;
  }
  proved_.insert(key);
  return true;
}

KernelsReport Proven::report() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> fast;
  std::vector<std::string> reasons;
  for (const auto form : {Form::linear, Form::transposed, Form::plain}) {
    const bool proved = std::ranges::any_of(proved_, [&](const auto& key) { return std::get<0>(key) == form; });
    if (const auto refused = refused_.find(form); refused != refused_.end()) {
      reasons.push_back(refused->second);
    } else if (proved) {
      fast.emplace_back(name_of(form));
    }
  }
  if (fast.empty() && reasons.empty()) return {};
  const auto* used = fast.empty() ? "torch" : reasons.empty() ? "fast" : "fast and torch";
  if (!fast.empty()) reasons.insert(reasons.begin(), fmt::format("equal bits: {}", fmt::join(fast, ", ")));
  return {used, fmt::format("self-test: {}", fmt::join(reasons, "; "))};
}

}  // namespace lockstep::kernels
