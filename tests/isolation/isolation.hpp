#pragma once

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "catch.hpp"
#include "process.hpp"
#include "temporary_folder.hpp"

namespace isolation {

using Json = nlohmann::json;

inline const std::filesystem::path folder = std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "tests/isolation";

inline std::string content(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// A folder of its own for one test; also where the program keeps its temporary files.
class Scratch : public TemporaryFolder {
 public:
  Scratch() { std::filesystem::create_directory(temporary()); }
  [[nodiscard]] std::filesystem::path temporary() const { return path() / "tmp"; }
};

/// A sanitizer would turn a signal into an exit code of its own.
inline process::Options options(const Scratch& scratch) {
  return {.folder = folder,
          .environment = {"LOCKSTEP_PLUGIN_PATH=" TEST_PLUGINS, "NO_COLOR=", "TERM=xterm",
                          "TMPDIR=" + scratch.temporary().string(),
                          "ASAN_OPTIONS=handle_segv=0:handle_abort=0:handle_sigbus=0"}};
}

inline std::vector<std::string> words(const std::vector<std::string>& arguments) {
  std::vector<std::string> all{LOCKSTEP_PROGRAM};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

inline const Json& step(const Json& record, const std::string& id) {
  for (const auto& each : record.at("steps"))
    if (each.at("id") == id) return each;
  throw std::runtime_error("no step " + id);
}

/// A run that is over: what it printed, its record.
struct Run {
  explicit Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "run");
    arguments.insert(arguments.end(), {"--json", scratch.file("record.json")});
    result = process::run(words(arguments), options(scratch));
    record = Json::parse(content(scratch.file("record.json")));
    INFO(result.out << result.err);
    CHECK(std::filesystem::is_empty(scratch.temporary()));
  }
  [[nodiscard]] const Json& at(const std::string& id) const { return step(record, id); }
  [[nodiscard]] std::string status(const std::string& id) const { return at(id).at("status").dump(); }
  [[nodiscard]] std::string reason(const std::string& id) const {
    return at(id).at("reason").is_string() ? at(id).at("reason").get<std::string>() : "";
  }

  Scratch scratch;
  process::Result result;
  Json record;
};

/// The pipeline victim.toml, whose second step ends as `how` says.
inline std::vector<std::string> victim(const std::string& how, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"pipelines/victim.toml", "--set", "how=" + how};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace isolation
