#include <ATen/TensorOperators.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "catch.hpp"
#include "kernels/proven.hpp"

using namespace lockstep;
using kernels::Form;
using kernels::Product;
using kernels::ProductShape;

// Orders of addition that are plausible and wrong.

namespace {

using Order = std::function<float(const std::vector<float>& products)>;

/// Adds into `count` sums, k to sum k % count, then joins them with `join`.
Order partial_sums(std::size_t count, const std::function<float(std::vector<float>)>& join) {
  return [=](const std::vector<float>& products) {
    std::vector<float> sums(count);
    for (std::size_t k = 0; k < products.size(); ++k) sums[k % count] += products[k];
    return join(sums);
  };
}
float halve(std::vector<float> sums) {
  for (auto half = sums.size() / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}
float halve_neighbours(std::vector<float> sums) {
  for (auto half = sums.size() / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) sums[i] = sums[2 * i] + sums[2 * i + 1];
  }
  return sums[0];
}
float in_order(std::vector<float> sums) {
  float sum = sums[0];
  for (std::size_t i = 1; i < sums.size(); ++i) sum += sums[i];
  return sum;
}

/// a [m, k] and rows [n, k] of the second matrix.
at::Tensor multiplied(const at::Tensor& a, const at::Tensor& rows, const Order& order) {
  auto out = at::zeros({a.size(0), rows.size(0)}, at::kFloat);
  const auto left = a.to(at::kFloat).contiguous();
  const auto right = rows.to(at::kFloat).contiguous();
  const auto k = a.size(1);
  std::vector<float> products(static_cast<std::size_t>(k));
  for (std::int64_t m = 0; m < out.size(0); ++m) {
    for (std::int64_t n = 0; n < out.size(1); ++n) {
      for (std::int64_t i = 0; i < k; ++i) {
        products[static_cast<std::size_t>(i)] =
            left.const_data_ptr<float>()[m * k + i] * right.const_data_ptr<float>()[n * k + i];
      }
      out.data_ptr<float>()[m * out.size(1) + n] = order(products);
    }
  }
  return out.to(at::kBFloat16);
}

Product linear_in(const Order& order) {
  return [order](const at::Tensor& x, const at::Tensor& w) { return multiplied(x, w, order); };
}
Product bmm_in(const Order& order) {
  return [order](const at::Tensor& a, const at::Tensor& b) {
    return multiplied(a[0], b[0].transpose(0, 1), order).unsqueeze(0);
  };
}
at::Tensor torch_linear(const at::Tensor& x, const at::Tensor& w) { return at::linear(x, w); }
at::Tensor torch_bmm(const at::Tensor& a, const at::Tensor& b) { return at::bmm(a, b); }

}  // namespace

TEST_CASE("the self-test accepts the order of LibTorch and refuses every other") {
  const ProductShape shape{1, 4, 24, 512};
  CHECK_FALSE(find_difference(Form::linear, shape, linear_in(partial_sums(64, halve)), torch_linear));
  for (const auto& wrong : {partial_sums(1, in_order), partial_sums(32, halve), partial_sums(128, halve),
                            partial_sums(8, halve), partial_sums(64, halve_neighbours), partial_sums(64, in_order)}) {
    CHECK(find_difference(Form::linear, shape, linear_in(wrong), torch_linear));
  }
  const ProductShape context{1, 5, 32, 131};
  CHECK_FALSE(find_difference(Form::plain, context, bmm_in([](const std::vector<float>& products) {
                                // the last 131 % 4 products belong to the first sum
                                std::vector<float> sums(4);
                                for (std::size_t k = 0; k < 128; ++k) sums[k % 4] += products[k];
                                for (std::size_t k = 128; k < 131; ++k) sums[0] += products[k];
                                return in_order(sums);
                              }),
                              torch_bmm));
  for (const auto& wrong : {partial_sums(1, in_order), partial_sums(4, in_order), partial_sums(2, in_order)}) {
    CHECK(find_difference(Form::plain, context, bmm_in(wrong), torch_bmm));
  }
}

TEST_CASE("a kernel with a wrong order serves nothing more of its form, and the report says what differed") {
  kernels::Proven proven;
  CHECK(proven.report().used.empty());
  const auto right = linear_in(partial_sums(64, halve));
  const auto wrong = linear_in(partial_sums(32, halve));
  CHECK(proven.covers(Form::linear, {1, 3, 16, 128}, right, torch_linear));
  CHECK(proven.report().used == "fast");
  CHECK(proven.report().reason == "self-test: equal bits: linear");
  CHECK(proven.covers(Form::linear, {1, 3, 16, 128}, wrong, torch_linear));  // of a proved class, not tested again
  CHECK_FALSE(proven.covers(Form::linear, {1, 3, 16, 256}, wrong, torch_linear));
  CHECK_FALSE(proven.covers(Form::linear, {1, 3, 16, 128}, right, torch_linear));
  CHECK(proven.report().used == "torch");
  CHECK(proven.report().reason.starts_with("self-test: linear of 3 x 256 by 256 x 16: "));
  CHECK(proven.report().reason.ends_with(" of 48 values differ"));

  CHECK(proven.covers(Form::transposed, {1, 3, 16, 128}, torch_bmm, torch_bmm));
  CHECK(proven.report().used == "fast and torch");
}
