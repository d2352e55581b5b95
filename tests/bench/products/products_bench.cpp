// Times lockstep::linear and lockstep::matmul beside LibTorch's, at E2B's sizes: products_bench [RUNS].
//
// The sides take turns; least time of each. On a CPU with bfloat16 instructions both are LibTorch's unless the
// environment hides them: ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2.
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <lockstep/torch.hpp>
#include <string>
#include <vector>

#include "kernels/kernels.hpp"

namespace {

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

at::Tensor random(at::IntArrayRef sizes, at::ScalarType dtype = at::kBFloat16) { return at::randn(sizes).to(dtype); }

struct Case {
  std::string name;
  at::Tensor a;
  at::Tensor b;  ///< of a linear the weight
  bool is_linear;
  double operations;
};

Case linear(const std::string& name, std::int64_t m, std::int64_t n, std::int64_t k) {
  return {fmt::format("{} linear {} x {} x {}", name, m, n, k), random({m, k}), random({n, k}), true,
          2.0 * static_cast<double>(m * n * k)};
}
Case scores(const std::string& name, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  return {fmt::format("{} bmm^T {} x {} x {} x {}", name, batch, m, n, k), random({batch, m, k}),
          random({batch, n, k}).transpose(1, 2), false, 2.0 * static_cast<double>(batch * m * n * k)};
}
Case context(const std::string& name, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  return {fmt::format("{} bmm {} x {} x {} x {}", name, batch, m, n, k), random({batch, m, k}), random({batch, k, n}),
          false, 2.0 * static_cast<double>(batch * m * n * k)};
}

void compare(const Case& c, int runs) {
  const auto ours = [&] { static_cast<void>(c.is_linear ? lockstep::linear(c.a, c.b) : lockstep::matmul(c.a, c.b)); };
  const auto theirs = [&] { static_cast<void>(c.is_linear ? at::linear(c.a, c.b) : at::matmul(c.a, c.b)); };
  const auto a32 = c.a.to(at::kFloat);
  const auto b32 = c.b.to(at::kFloat);
  const auto wide = [&] { static_cast<void>(c.is_linear ? at::linear(a32, b32) : at::matmul(a32, b32)); };
  ours();  // with the self-test
  double least[3] = {1e9, 1e9, 1e9};
  for (int i = 0; i < runs; ++i) {
    least[0] = std::min(least[0], seconds_of(ours));
    least[1] = std::min(least[1], seconds_of(theirs));
    least[2] = std::min(least[2], seconds_of(wide));
  }
  const auto speed = [&](double seconds) { return c.operations / seconds * 1e-9; };
  const auto read = static_cast<double>(c.b.numel()) * 2 / least[0] * 1e-9;
  fmt::print("| {:40} | {:9.3f} | {:6.1f} | {:9.3f} | {:6.1f} | {:6.1f} | {:5.1f} x | {:5.1f} |\n", c.name,
             least[0] * 1e3, speed(least[0]), least[1] * 1e3, speed(least[1]), speed(least[2]), least[1] / least[0],
             read);
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 3;
  at::set_num_threads(2);
  fmt::print(
      "| product (m x n x k) | Lockstep, ms | GFLOP/s | LibTorch, ms | GFLOP/s | float32, GFLOP/s | faster | weights, "
      "GB/s |\n");
  fmt::print("|---|---|---|---|---|---|---|---|\n");
  for (const auto& [m, name] :
       {std::pair<std::int64_t, std::string>{1, "token"}, {4, "4 rows"}, {270, "prompt"}, {2048, "padded"}}) {
    compare(linear(name, m, 6144, 1536), runs);
    compare(linear(name, m, 1536, 6144), runs);
    if (m <= 270) compare(linear(name, m, 12288, 1536), runs);
    if (m <= 270) compare(linear(name, m, 256, 1536), runs);
  }
  compare(linear("head", 1, 262144, 1536), runs);
  compare(linear("vision", 2376, 768, 768), runs);
  compare(linear("vision", 2376, 3072, 768), runs);
  compare(scores("prompt", 8, 270, 270, 256), runs);
  compare(context("prompt", 8, 270, 256, 270), runs);
  compare(scores("padded", 1, 8 * 2048, 2048, 256), 1);
  compare(context("padded", 1, 8 * 2048, 256, 2048), 1);
  compare(scores("token", 1, 8, 2048, 256), runs);
  compare(context("token", 1, 8, 256, 2048), runs);
  compare(scores("vision", 12, 2376, 2376, 64), 1);
  compare(context("vision", 12, 2376, 64, 2376), 1);
  const auto report = lockstep::kernels_report();
  fmt::print("kernels: {}; {}\n", report.used, report.reason);
}
