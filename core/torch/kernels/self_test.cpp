#include "kernels/self_test.hpp"

#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <span>
#include <vector>

namespace lockstep::kernels {
namespace {

/// bfloat16 of random mantissa, sign and exponent -8 to 8.
class RandomValues {
 public:
  explicit RandomValues(std::uint64_t seed) : bits_(seed) {}
  c10::BFloat16 operator()() {
    const auto bits = bits_();
    const auto mantissa = 1.0 + static_cast<double>(bits % 128) / 128.0;
    const auto exponent = static_cast<int>(bits / 128 % 17) - 8;
    const auto sign = (bits >> 32U) % 2 == 0 ? 1.0 : -1.0;
    return static_cast<float>(sign * std::ldexp(mantissa, exponent));
  }

 private:
  std::mt19937_64 bits_;
};

/// For each k its partner, for the one in 16 that has none k itself.
std::vector<std::int64_t> partners(std::int64_t k, std::uint64_t seed) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(k));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  std::vector<std::int64_t> result(order.size());
  std::iota(result.begin(), result.end(), 0);
  for (std::size_t i = order.size() / 16; i + 1 < order.size(); i += 2) {
    result[static_cast<std::size_t>(order[i])] = order[i + 1];
    result[static_cast<std::size_t>(order[i + 1])] = order[i];
  }
  return result;
}

/// Rows of k values; a value whose partner stands before it repeats that one, times `sign`; one without is small.
at::Tensor rows_of(std::int64_t count, std::span<const std::int64_t> partner, float sign, RandomValues& random) {
  const auto k = std::ssize(partner);
  auto rows = at::empty({count, k}, at::kBFloat16);
  auto* values = rows.data_ptr<c10::BFloat16>();
  for (std::int64_t row = 0; row < count; ++row, values += k) {
    for (std::int64_t i = 0; i < k; ++i) {
      const auto other = partner[static_cast<std::size_t>(i)];
      const float value = other < i ? sign * static_cast<float>(values[other]) : static_cast<float>(random());
      values[i] = other == i ? value * 0x1p-10F : value;
    }
  }
  return rows;
}

}  // namespace

const char* name_of(Form form) {
  switch (form) {
    case Form::linear:
      return "linear";
    case Form::transposed:
      return "bmm with a transposed matrix";
    default:
      return "bmm";
  }
}

CancellingOperands cancelling_operands(Form form, const ProductShape& shape, std::uint64_t seed) {
  RandomValues random(seed);
  const auto partner = partners(shape.k, seed);
  const auto a = rows_of(shape.batch * shape.m, partner, 1, random);
  const auto b = rows_of(shape.batch * shape.n, partner, -1, random);
  if (form == Form::linear) return {.a = a, .b = b};
  const auto transposed = b.view({shape.batch, shape.n, shape.k}).transpose(1, 2);
  return {.a = a.view({shape.batch, shape.m, shape.k}),
          .b = form == Form::transposed ? transposed : transposed.contiguous()};
}

std::optional<std::string> find_difference(Form form, const ProductShape& shape, const Product& fast,
                                           const Product& right) {
  const auto [a, b] = cancelling_operands(form, shape, 20260401);
  const auto bits = [](const at::Tensor& t) {
    return std::span(static_cast<const std::int16_t*>(t.const_data_ptr()), static_cast<std::size_t>(t.numel()));
  };
  const auto expected = right(a, b).contiguous();
  const auto actual = fast(a, b);
  const auto e = bits(expected);
  const auto c = bits(actual);
  const auto differing =
      std::inner_product(e.begin(), e.end(), c.begin(), std::int64_t{0}, std::plus<>(), std::not_equal_to<>());
  if (differing == 0) return std::nullopt;
  return fmt::format("{} of {} x {} by {} x {}: {} of {} values differ", name_of(form), shape.m, shape.k, shape.k,
                     shape.n, differing, expected.numel());
}

}  // namespace lockstep::kernels
