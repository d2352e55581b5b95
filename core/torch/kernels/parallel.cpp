#include "kernels/parallel.hpp"

#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <atomic>

namespace lockstep::kernels {

// LibTorch's pool is reached through a loop over a tensor with one element for each thread: at::parallel_for is a
// template that would need the same OpenMP library as LibTorch was built with.
void for_each_task(std::int64_t count, std::int64_t operations, const std::function<void(std::int64_t)>& task) {
  constexpr std::int64_t worth_a_thread = 1'000'000;
  const auto threads = std::min<std::int64_t>({at::get_num_threads(), count, operations / worth_a_thread + 1});
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    for (auto i = next++; i < count; i = next++) task(i);
  };
  if (threads == 1) return work();
  auto tickets = at::empty({threads}, at::kByte);
  auto loop = at::TensorIterator::nullary_op(tickets);
  loop.for_each([&](char**, const std::int64_t*, std::int64_t, std::int64_t) { work(); }, /*grain_size=*/1);
}

}  // namespace lockstep::kernels
