#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "golden.hpp"
#include "process.hpp"

namespace fs = std::filesystem;

namespace {

const fs::path folder = fs::path(LOCKSTEP_SOURCE_DIR) / "docs/tutorial";

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  REQUIRE(stream.is_open());
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// What the terminal shows after `$ command`, standard error after standard output.
std::string output_of(const std::string& command) {
  std::istringstream words(command);
  std::vector<std::string> arguments{std::istream_iterator<std::string>(words), {}};
  REQUIRE(arguments.front() == "lockstep");
  arguments.front() = LOCKSTEP_PROGRAM;
  const auto result = process::run(
      arguments, {.folder = folder, .environment = {"LOCKSTEP_PLUGIN_PATH=" TUTORIAL_PLUGINS, "NO_COLOR=1"}});
  return result.out + result.err;
}

/// Times, memory and thread counts differ between runs and machines.
std::string stable(std::string text) {
  text = std::regex_replace(text, std::regex("[0-9]+\\.[0-9]{2} s"), "0.00 s");
  text = std::regex_replace(text, std::regex("[0-9]+ MiB"), "9 MiB");
  text = std::regex_replace(text, std::regex("9 MiB private"), "4 MiB private");
  return std::regex_replace(text, std::regex("[0-9]+ threads?"), "2 threads");
}

/// The page with every block made anew from the files and from the program's output.
std::string regenerated(const std::string& page) {
  std::istringstream lines(page);
  std::ostringstream result;
  std::string file;
  for (std::string line; std::getline(lines, line);) {
    result << line << '\n';
    std::smatch match;
    if (std::regex_match(line, match, std::regex("<!-- file: (.*) -->"))) file = match[1];
    if (!line.starts_with("```") || line == "```") continue;
    std::string body;
    for (std::string inner; std::getline(lines, inner) && inner != "```";) body += inner + '\n';
    if (!file.empty()) body = text_of(folder / file);
    if (line == "```console") {
      const auto command = body.substr(0, body.find('\n'));
      body = command + '\n' + stable(output_of(command.substr(2)));
    }
    result << body << "```\n";
    file.clear();
  }
  return result.str();
}

}  // namespace

TEST_CASE("the tutorial shows the files that are compiled and what the program prints") {
  const auto page = text_of(folder.parent_path() / "tutorial.md");
  golden::check("../docs/tutorial.md", regenerated(page));
}

TEST_CASE("the tutorial's step passes when it is right and fails when it is wrong") {
  const auto code = [](std::vector<std::string> more) {
    std::vector<std::string> arguments{LOCKSTEP_PROGRAM, "run", "softmax.toml"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return process::run(arguments, {.folder = folder, .environment = {"LOCKSTEP_PLUGIN_PATH=" TUTORIAL_PLUGINS}}).code;
  };
  CHECK(code({}) == 0);
  CHECK(code({"--set", "step.softmax.with.subtract_max=false"}) == 1);
  CHECK(code({"--set", "step.softmax.with.lenght=10"}) == 2);
}

TEST_CASE("a complete step takes at most thirty lines") {
  const auto source = text_of(folder / "softmax.cpp");
  CHECK(std::count(source.begin(), source.end(), '\n') <= 30);
}
