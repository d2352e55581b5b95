#include <ATen/TensorOperators.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include <limits>
#include <lockstep/torch.hpp>
#include <random>
#include <string>

#include "catch.hpp"
#include "kernels/kernels.hpp"
#include "kernels/self_test.hpp"

// Run by ctest with ATEN_CPU_CAPABILITY=avx2 and ONEDNN_MAX_CPU_ISA=AVX2. What is right is LibTorch's own result.

using namespace lockstep;
using kernels::Form;
using kernels::ProductShape;

namespace {

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && at::equal(a.contiguous().view(at::kShort), b.contiguous().view(at::kShort));
}

/// LibTorch's bits for operands whose sums cancel.
bool is_right(Form form, const ProductShape& shape, std::uint64_t seed) {
  const auto [a, b] = kernels::cancelling_operands(form, shape, seed);
  if (form == Form::linear) return same_bits(lockstep::linear(a, b), at::linear(a, b));
  return same_bits(lockstep::matmul(a, b), at::bmm(a, b));
}

std::string text(Form form, const ProductShape& s) {
  return std::string(kernels::name_of(form)) + " " + std::to_string(s.batch) + " x " + std::to_string(s.m) + " x " +
         std::to_string(s.n) + " x " + std::to_string(s.k);
}

at::Tensor random(at::IntArrayRef sizes) { return at::randn(sizes).to(at::kBFloat16); }

}  // namespace

TEST_CASE("products have LibTorch's bits at hundreds of shapes") {
  std::mt19937 random_shape(7);
  const auto up_to = [&](std::int64_t most) { return 1 + static_cast<std::int64_t>(random_shape()) % most; };
  for (int i = 0; i < 150; ++i) {
    const ProductShape linear{1, up_to(80), up_to(300), 64 * up_to(i % 10 == 0 ? 192 : 32)};
    const ProductShape scores{up_to(8), up_to(60), up_to(300), 64 * up_to(8)};
    const ProductShape context{up_to(8), up_to(60), 16 * up_to(16), up_to(300)};
    INFO(text(Form::linear, linear) << ", " << text(Form::transposed, scores) << ", " << text(Form::plain, context));
    CHECK(is_right(Form::linear, linear, 3 * i));
    CHECK(is_right(Form::transposed, scores, 3 * i + 1));
    CHECK(is_right(Form::plain, context, 3 * i + 2));
  }
  CHECK(kernels_report().used == "fast");
}

TEST_CASE("every width of E2B and E4B has LibTorch's bits, with one row, few and many") {
  // K of the projections of text and vision; N as wide as one task of a thread and more.
  for (const std::int64_t k : {256, 512, 768, 1536, 2048, 2560, 3072, 4096, 6144, 10240, 12288}) {
    for (const std::int64_t m : {1, 3, 11, 12, 14}) {
      INFO(text(Form::linear, {1, m, 130, k}));
      CHECK(is_right(Form::linear, {1, m, 130, k}, 1));
    }
  }
  for (const auto& shape : {ProductShape{1, 2520, 768, 768}, {1, 270, 1536, 6144}, {1, 1, 8960, 1536}}) {
    INFO(text(Form::linear, shape));
    CHECK(is_right(Form::linear, shape, 2));
  }
  CHECK(is_right(Form::transposed, {2, 300, 2048, 256}, 3));
  CHECK(is_right(Form::plain, {2, 100, 256, 2048}, 4));
  CHECK(kernels_report().used == "fast");
}

TEST_CASE("infinities, NaN, overflow and subnormal numbers come out as LibTorch's") {
  for (const float value :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 2e38F, 1e-38F, 1e-40F}) {
    auto x = random({16, 128});
    x.select(1, 5).fill_(value);
    const auto w = random({24, 128});
    CHECK(same_bits(lockstep::linear(x, w), at::linear(x, w)));
    CHECK(same_bits(lockstep::linear(x.slice(0, 0, 1), w), at::linear(x.slice(0, 0, 1), w)));
    CHECK(same_bits(lockstep::matmul(x.view({1, 16, 128}), random({1, 128, 64}).fill_(value)),
                    at::matmul(x.view({1, 16, 128}), random({1, 128, 64}).fill_(value))));
  }
}

TEST_CASE("operands may be views, and results are shaped as LibTorch's") {
  const auto x = random({2, 33, 256});
  const auto w = random({96, 256});
  CHECK(same_bits(lockstep::linear(x, w), at::linear(x, w)));
  CHECK(same_bits(lockstep::linear(x.slice(2, 64, 192), w.slice(1, 64, 192)),
                  at::linear(x.slice(2, 64, 192), w.slice(1, 64, 192))));
  CHECK(same_bits(lockstep::linear(x.transpose(1, 2), random({48, 33})),
                  at::linear(x.transpose(1, 2), random({48, 33}))) == false);  // other weights, other bits

  // As attention has them: [1, rows, heads, D] seen as [1, heads, rows, D], keys of a cache longer than what is filled.
  const auto query = random({1, 21, 4, 64}).transpose(1, 2);
  const auto cache = random({1, 4, 200, 64});
  const auto keys = cache.slice(2, 0, 130);
  CHECK(same_bits(lockstep::matmul(query, keys.transpose(2, 3)), at::matmul(query, keys.transpose(2, 3))));
  const auto scores = random({1, 4, 21, 130});
  CHECK(same_bits(lockstep::matmul(scores, keys), at::matmul(scores, keys)));
  const auto one_head = random({1, 1, 130, 64}).expand({1, 4, 130, 64});
  CHECK(same_bits(lockstep::matmul(scores, one_head), at::matmul(scores, one_head)));
}

TEST_CASE("what no fast kernel serves is LibTorch's") {
  for (const auto& [x, w] : {std::pair{at::randn({5, 64}), at::randn({7, 64})},  // float32
                             std::pair{random({50, 70}), random({30, 70})},      // K not a multiple of 64
                             std::pair{random({1, 64}), random({1, 64})},        // too small
                             std::pair{random({0, 64}), random({8, 64})}}) {
    CHECK(at::equal(lockstep::linear(x, w), at::linear(x, w)));
  }
  CHECK_THROWS(lockstep::linear(random({4, 64}), random({4, 128})));
  CHECK_THROWS(lockstep::matmul(random({1, 4, 64}), random({1, 128, 16})));
}

TEST_CASE("kernels = torch leaves everything to LibTorch, and the report says so") {
  set_kernels(Kernels::torch);
  CHECK(kernels_report().used == "torch");
  CHECK(kernels_report().reason == "asked for");
  CHECK(is_right(Form::linear, {1, 20, 64, 128}, 5));
  set_kernels(Kernels::automatic);
  CHECK(is_right(Form::linear, {1, 20, 64, 128}, 5));
  CHECK(kernels_report().reason == "self-test: equal bits: linear, bmm with a transposed matrix, bmm");
}
