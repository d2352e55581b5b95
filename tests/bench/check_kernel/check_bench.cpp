// Times close + maxima + counts on bfloat16, and only reading the same bytes: check_bench [--json] [ELEMENTS [RUNS]].
//
// Three inputs: both sides equal, one element in 1000 different, every element different by a few places.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "check/compare.hpp"
#include "check/parallel.hpp"

namespace {

using namespace lockstep;

struct Input {
  std::string name;
  std::uint64_t change_every;  ///< 0: never
  std::vector<double> seconds = {};
};

std::uint32_t hash(std::uint64_t i) { return static_cast<std::uint32_t>((i * 0x9E3779B97F4A7C15U) >> 32); }

/// bfloat16 of 2^-4 .. 2^4 of either sign; one in `change_every` has its last bits changed.
Tensor values(std::int64_t elements, std::uint64_t change_every) {
  auto data = std::make_shared<std::vector<std::uint16_t>>(static_cast<std::size_t>(elements));
  for (std::size_t i = 0; i < data->size(); ++i) {
    const std::uint32_t h = hash(i);
    auto bits = static_cast<std::uint16_t>(((h & 1U) << 15) | ((123 + (h >> 1) % 8) << 7) | ((h >> 8) & 0x7fU));
    if (change_every != 0 && i % change_every == 0) bits = static_cast<std::uint16_t>(bits ^ (1U + (h >> 20) % 3));
    (*data)[i] = bits;
  }
  const void* bytes = data->data();
  return {std::move(data), bytes, DType::bfloat16, {elements}};
}

/// Reads every byte of both sides on all threads, with wide loads and nothing else to do.
std::uint64_t read_all(const Tensor& tensor) {
  using Wide = std::uint64_t __attribute__((vector_size(64)));
  const auto threads = static_cast<std::size_t>(check_threads());
  const std::size_t bytes = static_cast<std::size_t>(tensor.numel()) * 2;
  std::atomic<std::uint64_t> all{0};
  std::vector<std::jthread> workers;
  for (std::size_t t = 0; t < threads; ++t) {
    workers.emplace_back([&, begin = bytes / threads * t, end = bytes / threads * (t + 1)] {
      std::array<Wide, 4> sum{};
      for (std::size_t i = begin; i + sizeof sum <= end; i += sizeof sum) {
        std::array<Wide, 4> block;
        std::memcpy(&block, tensor.data() + i, sizeof block);
        for (std::size_t j = 0; j < sum.size(); ++j) sum[j] ^= block[j];
      }
      const Wide folded = sum[0] ^ sum[1] ^ sum[2] ^ sum[3];
      all += folded[0] ^ folded[1] ^ folded[2] ^ folded[3] ^ folded[4] ^ folded[5] ^ folded[6] ^ folded[7];
    });
  }
  workers.clear();
  return all;
}

template <class F>
double seconds_of(F&& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string list(const std::vector<double>& numbers) {
  std::string text;
  for (const double x : numbers) text += fmt::format("{}{:.6f}", text.empty() ? "" : ", ", x);
  return "[" + text + "]";
}

void print(const char* name, std::vector<double> seconds, std::int64_t elements) {
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2];
  fmt::print("{:<28}{:8.1f} ms{:8.2f} GB/s\n", name, median * 1e3, 4e-9 * static_cast<double>(elements) / median);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool json = !arguments.empty() && arguments.front() == "--json";
  if (json) arguments.erase(arguments.begin());
  const std::int64_t elements = !arguments.empty() ? std::atoll(arguments[0].c_str()) : 100'000'000;
  const int runs = arguments.size() > 1 ? std::atoi(arguments[1].c_str()) : 7;
  if (elements < 1 || runs < 1) {
    fmt::print(stderr, "usage: check_bench [--json] [ELEMENTS [RUNS]]\n");
    return 2;
  }

  const Tensor expected = values(elements, 0);
  std::vector<Input> inputs{{"equal", 0}, {"one in 1000 differs", 1000}, {"all differ", 1}};
  std::vector<double> read_seconds;
  std::uint64_t sink = 0;
  for (Input& input : inputs) {
    const Tensor actual = values(elements, input.change_every);
    for (int run = 0; run < runs; ++run) {
      input.seconds.push_back(seconds_of([&] {
        const CheckResult result = compare(expected, actual, close());
        sink += static_cast<std::uint64_t>(result.mismatched);
      }));
      if (input.change_every == 0) {
        read_seconds.push_back(seconds_of([&] { sink += read_all(expected) + read_all(actual); }));
      }
    }
  }
  if (sink == 1) fmt::print(stderr, "unlikely\n");  // keeps the reads

  if (json) {
    fmt::print("{{\"seconds\": {}, \"few_differ_seconds\": {}, \"all_differ_seconds\": {}, \"read_seconds\": {}}}\n",
               list(inputs[0].seconds), list(inputs[1].seconds), list(inputs[2].seconds), list(read_seconds));
    return 0;
  }
  fmt::print("{} bfloat16 on each side, {} threads, median of {}\n", elements, check_threads(), runs);
  print("only reading", read_seconds, elements);
  for (const Input& input : inputs) print(input.name.c_str(), input.seconds, elements);
  return 0;
}
