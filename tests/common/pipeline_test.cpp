// The program as a user runs it, with pipelines of these steps.

#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <lockstep/safetensors.hpp>

#include "catch.hpp"
#include "process.hpp"
#include "tensors.hpp"

using namespace lockstep;
using namespace lockstep::test;

namespace {

process::Result compare(const std::string& expected, const std::string& actual,
                        const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{LOCKSTEP_PROGRAM, "run", LOCKSTEP_SOURCE_DIR "/pipelines/compare_files.toml"};
  for (const auto& value : {"expected=" + expected, "actual=" + actual}) {
    words.emplace_back("--set");
    words.push_back(value);
  }
  words.insert(words.end(), more.begin(), more.end());
  return process::run(words);
}

}  // namespace

TEST_CASE("compare_files.toml compares two dumps") {
  const Scratch scratch;
  const auto a = scratch.file("a.safetensors");
  const auto b = scratch.file("b.safetensors");
  write_safetensors(a, {{"hidden", floats({1, 2})}, {"logits", floats({3, 4})}});
  write_safetensors(b, {{"hidden", floats({1, 2.5F})}, {"logits", floats({3, 4})}});
  const auto same = compare(a, a);
  INFO(same.out << same.err);
  CHECK(same.code == 0);
  const auto other = compare(a, b);
  CHECK(other.code == 1);
  CHECK(other.out.find("matches hidden") != std::string::npos);
  CHECK(compare(a, b, {"--set", R"(bounds=["hidden: max_abs max=0.5"])"}).code == 0);
  CHECK(compare(a, scratch.file("missing.safetensors")).code == 2);
}

TEST_CASE("what a failing command wrote last stands under its ERROR in every report") {
  const Scratch scratch;
  const auto isolation = GENERATE("none", "process");
  std::ofstream(scratch.file("p.toml")) << "schema = 1\n[[step]]\nid = \"runtime\"\nuses = \"common.run_command\"\n"
                                        << "isolation = \"" << isolation << "\"\nwith = { command = [\"sh\", "
                                        << "\"-c\", \"echo loading; echo no such device >&2; exit 3\"] }\n";
  const auto result = process::run({LOCKSTEP_PROGRAM, "run", scratch.file("p.toml"), "--json", scratch.file("r.json"),
                                    "--markdown", scratch.file("r.md"), "--junit", scratch.file("r.xml")});
  INFO(result.out << result.err);
  CHECK(result.code == 4);
  CHECK(result.out.find("| loading\n") != std::string::npos);
  CHECK(result.out.find("| no such device\n") != std::string::npos);
  for (const auto* report : {"r.md", "r.xml", "r.json"}) {
    std::ifstream stream(scratch.file(report));
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    INFO(text);
    CHECK(text.find("loading") != std::string::npos);
    if (report == std::string("r.json")) CHECK(text.find("\"output_tail\": [") != std::string::npos);
  }
}

TEST_CASE("Ctrl-C ends the command of a step and the run, with exit code 6") {
  const Scratch scratch;
  const auto pid_file = scratch.file("pid");
  // In a pipeline $$ is one dollar.
  std::ofstream(scratch.file("p.toml")) << "schema = 1\n[[step]]\nid = \"slow\"\nuses = \"common.run_command\"\n"
                                        << "with = { command = [\"sh\", \"-c\", \"echo $$$$ > " << pid_file
                                        << "; exec sleep 60\"] }\n";
  process::Process run({LOCKSTEP_PROGRAM, "run", scratch.file("p.toml")});
  pid_t pid = 0;
  for (int i = 0; i < 4000 && !(std::ifstream(pid_file) >> pid); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  REQUIRE(pid > 0);
  run.send(SIGINT);
  const auto result = run.wait();
  CHECK(result.code == 6);
  CHECK(result.out.find("interrupted") != std::string::npos);
  CHECK(kill(pid, 0) != 0);
}
