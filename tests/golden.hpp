#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "catch.hpp"

namespace golden {

/// Replaces every `from` in `text`, for what differs between machines: folders, times.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// `text` must equal the file `tests/<name>`. With LOCKSTEP_UPDATE_GOLDEN=1 in the environment the file is written
/// instead; read the difference before you commit it.
inline void check(const std::string& name, const std::string& text) {
  const auto file = std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "tests" / name;
  if (std::getenv("LOCKSTEP_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  std::ifstream stream(file, std::ios::binary);
  INFO("golden file: tests/" << name);
  REQUIRE(stream.is_open());
  const std::string expected{std::istreambuf_iterator<char>(stream), {}};
  CHECK(text == expected);
}

}  // namespace golden
