// tokenizer_load [TOKENIZER.json]
//
// Prints how long a tokenizer.json takes to load and how long texts take to encode: without an argument for a synthetic
// one of the family's size (262,144 entries, as many merges), written to a temporary file first.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <iostream>
#include <lockstep/diagnostic.hpp>
#include <nlohmann/json.hpp>
#include <random>

#include "processor/tokenizer.hpp"

namespace {

using nlohmann::json;

constexpr std::size_t entries = 262'144;

/// Pieces that grow by joining two earlier ones, as training would; every piece is kept once, merges may repeat pieces.
json synthetic_tokenizer() {
  std::mt19937_64 random{1};
  json vocabulary = json::object();
  json merges = json::array();
  std::vector<std::string> pieces;
  const auto add = [&](const std::string& piece) {
    if (!vocabulary.emplace(piece, pieces.size()).second) return false;
    pieces.push_back(piece);
    return true;
  };
  for (unsigned byte = 0; byte < 256; ++byte) add(fmt::format("<0x{:02X}>", byte));
  add("\u2581");
  for (char c = 'a'; c <= 'z'; ++c) add(std::string{c});
  const auto first = pieces.size() - 27;
  while (pieces.size() < entries || merges.size() < entries) {
    const auto pick = [&] { return pieces[first + random() % std::min<std::size_t>(pieces.size() - first, 20'000)]; };
    const auto left = pick();
    const auto right = pick();
    if (left.size() + right.size() > 24) continue;
    const bool is_new = pieces.size() < entries && add(left + right);
    if (is_new || (pieces.size() == entries && vocabulary.contains(left + right))) merges.push_back({left, right});
  }
  auto document = json::parse(R"({
    "version": "1.0", "added_tokens": [],
    "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                                                 {"type": "ByteFallback"}, {"type": "Fuse"}]}})");
  document["model"] = {{"type", "BPE"}, {"byte_fallback", true}, {"vocab", vocabulary}, {"merges", merges}};
  return document;
}

struct Seconds {
  double wall;
  double cpu;  // less at the mercy of a busy machine
};

/// The fastest of several calls.
template <typename Function>
Seconds fastest(int repeats, Function function) {
  Seconds best{1e9, 1e9};
  for (int i = 0; i < repeats; ++i) {
    const auto cpu = std::clock();
    const auto wall = std::chrono::steady_clock::now();
    function();
    best.wall = std::min(best.wall, std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count());
    best.cpu = std::min(best.cpu, static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC);
  }
  return best;
}

void run(const std::filesystem::path& file) {
  const auto tokenizer = gemma4::Tokenizer::from_file(file);
  fmt::print("{} tokens, {:.1f} MB\n", tokenizer.size(), static_cast<double>(std::filesystem::file_size(file)) / 1e6);
  const auto load = fastest(5, [&] { static_cast<void>(gemma4::Tokenizer::from_file(file)); });
  fmt::print("load                   {:7.4f} s wall  {:7.4f} s cpu\n", load.wall, load.cpu);
  std::mt19937_64 random{2};
  for (const std::size_t length : {1'000u, 10'000u, 100'000u, 1'000'000u}) {
    std::string text;
    while (text.size() < length) text += random() % 6 == 0 ? ' ' : static_cast<char>('a' + random() % 26);
    const auto taken = fastest(5, [&] { static_cast<void>(tokenizer.encode(text)); });
    fmt::print("encode {:9} bytes {:7.4f} s wall  {:7.4f} s cpu\n", length, taken.wall, taken.cpu);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 1) {
      run(argv[1]);
      return 0;
    }
    const auto file = std::filesystem::temp_directory_path() / "lockstep-tokenizer-load.json";
    std::ofstream{file} << synthetic_tokenizer().dump();
    run(file);
    std::filesystem::remove(file);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
