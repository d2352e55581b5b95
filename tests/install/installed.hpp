#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "process.hpp"

// The installed tree after its move, shared by the cases of this program.

namespace install_test {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

inline process::Result succeed(const Words& words, const process::Options& options = {}) {
  auto result = process::run(words, options);
  INFO(result.out << result.err);
  REQUIRE(result.code == 0);
  return result;
}

/// The installed tree after its move, and a folder for what is built against it. Made once, gone at the end.
struct Installed {
  Installed() {
    fs::remove_all(folder);
    fs::create_directories(folder);
    succeed({CMAKE_PROGRAM, "--install", LOCKSTEP_BINARY_DIR, "--prefix", (folder / "first").string()});
    fs::rename(folder / "first", prefix);
  }
  ~Installed() { fs::remove_all(folder); }

  fs::path folder = fs::path(LOCKSTEP_BINARY_DIR) / "install_test";
  fs::path prefix = folder / "moved";
  std::string program = (prefix / "bin/lockstep").string();
};
inline const Installed& installed() {
  static const Installed tree;
  return tree;
}

inline process::Result configure(const std::string& source, const std::string& name, const Words& settings) {
  Words words{CMAKE_PROGRAM,
              "-S",
              source,
              "-B",
              (installed().folder / name).string(),
              "-G",
              "Ninja",
              "-DCMAKE_BUILD_TYPE=Debug"};
  std::istringstream own(COMPILER_SETTINGS);
  for (std::string word; std::getline(own, word, '|');) words.push_back(word);
  const bool has_prefix =
      std::ranges::any_of(settings, [](const auto& s) { return s.starts_with("-DCMAKE_PREFIX_PATH="); });
  if (!has_prefix) words.push_back("-DCMAKE_PREFIX_PATH=" + installed().prefix.string());
  words.insert(words.end(), settings.begin(), settings.end());
  // The message of a failed find_package is wrapped; one line is easier to look into.
  auto result = process::run(words, {.environment = {"CMAKE_PREFIX_PATH="}});
  std::istringstream text(result.err);
  result.err.clear();
  for (std::string word; text >> word;) result.err += word + " ";
  return result;
}

}  // namespace install_test
