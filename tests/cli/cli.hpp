#pragma once

#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "golden.hpp"
#include "process.hpp"
#include "temporary_folder.hpp"

namespace cli {

inline const std::filesystem::path folder = std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "tests/cli";

/// Runs the program in tests/cli with the toy steps.
inline process::Options options() {
  return {.folder = folder, .environment = {"LOCKSTEP_PLUGIN_PATH=" TEST_PLUGINS, "NO_COLOR=", "TERM=xterm"}};
}
inline std::vector<std::string> words(const std::vector<std::string>& arguments) {
  std::vector<std::string> all{LOCKSTEP_PROGRAM};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}
inline process::Result lockstep(const std::vector<std::string>& arguments) {
  return process::run(words(arguments), options());
}

/// `text` without what differs between machines and runs. Widths are kept.
inline std::string normalised(std::string text) {
  text = golden::replaced(std::move(text), TEST_PLUGINS, "<plugins>");
  text = golden::replaced(std::move(text), LOCKSTEP_BINARY_DIR, "<build>");
  text = golden::replaced(std::move(text), LOCKSTEP_SOURCE_DIR, "<source>");
  text = std::regex_replace(text, std::regex(R"re(\d\.\d\d s\b)re"), "0.00 s");
  text = std::regex_replace(text, std::regex(R"re([\d,]+ MiB)re"), "N MiB");
  text = std::regex_replace(text, std::regex(R"re(("seconds": )[-+.e\d]+)re"), "$010.5");
  text = std::regex_replace(text, std::regex(R"re(("peak_(rss|private)_bytes": )\d+)re"), "$010");
  text = std::regex_replace(text, std::regex(R"re(("cpu": )"[^"]*")re"), "$01\"…\"");
  text = std::regex_replace(text, std::regex(R"re(("run_id": )"[0-9a-f]+")re"), "$01\"…\"");
  text = std::regex_replace(text, std::regex(R"re(("build_id": )"[0-9a-f]+")re"), "$01\"…\"");
  return text;
}

using Scratch = TemporaryFolder;

inline std::string content(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace cli
