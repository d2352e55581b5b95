#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

#include "checkpoint/checkpoint.hpp"

// Prints how long opening a checkpoint takes and how much memory of its own the process has then.

namespace {

/// KiB that no other process shares, file pages apart from the binaries' included.
long private_kib() {
  std::ifstream file("/proc/self/smaps_rollup");
  long total = 0;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("Private_")) total += std::stol(line.substr(line.find(':') + 1));
  return total;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: bench_open_checkpoint FOLDER\n", stderr);
    return 2;
  }
  try {
    const auto start = std::chrono::steady_clock::now();
    const auto checkpoint = gemma4::Checkpoint::open(argv[1]);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    fmt::print("{{\"seconds\": {}, \"private_bytes\": {}, \"tensors\": {}, \"parameters\": {}}}\n", seconds.count(),
               private_kib() * 1024, checkpoint.tensor_count(), checkpoint.parameter_count());
  } catch (const lockstep::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
