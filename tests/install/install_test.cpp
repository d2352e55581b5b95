#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "catch.hpp"
#include "install/installed.hpp"
#include "process.hpp"

using namespace install_test;
using Catch::Matchers::Contains;

namespace {

std::string parts() {
  const bool torch = !std::string(LOCKSTEP_LIBTORCH_VERSION).empty();
  return std::string(torch ? "torch" : "") + (torch && LOCKSTEP_HAS_GEMMA4 ? ";gemma4" : "");
}

/// The record's verdict and exit code of a pipeline given as text.
process::Result run_pipeline(const std::string& text, Words more = {}) {
  const auto file = installed().folder / "pipeline.toml";
  std::ofstream(file) << "schema = 1\n" << text;
  Words words{installed().program, "run", file.string(), "--plugin-path",
              (installed().folder / "build/plugins").string()};
  words.insert(words.end(), more.begin(), more.end());
  return process::run(words, {.folder = installed().folder});
}

}  // namespace

TEST_CASE("a project outside builds a step against the moved package, tests it on the bench and runs it") {
  const auto configured = configure(OUTSIDE_PROJECT, "build", {"-DLOCKSTEP_PARTS=" + parts()});
  INFO(configured.out << configured.err);
  REQUIRE(configured.code == 0);
  succeed({CMAKE_PROGRAM, "--build", (installed().folder / "build").string()});
  const Words ctest{CTEST_PROGRAM, "--test-dir", (installed().folder / "build").string(), "--no-tests=error"};
  const auto only = [&](Words words) {
    words.insert(words.begin(), ctest.begin(), ctest.end());
    return process::run(words);
  };
  CHECK(only({"-LE", "rows"}).code == 0);
  CHECK(only({"-R", "^rows.factor=2$"}).code == 0);
  CHECK(only({"-R", "^rows.factor=3$"}).code == 8);  // a test failed
  CHECK_THAT(only({"-L", "rows"}).out, Contains("1 tests failed out of 2"));

  const std::string step = "[[step]]\nid = \"double\"\nuses = \"outside.double\"\n";
  const auto right = run_pipeline(step);
  CHECK(right.code == 0);
  CHECK_THAT(right.out, Contains("bits equal (3)"));
  const auto wrong = run_pipeline(step, {"--set", "step.double.with.factor=3"});
  CHECK(wrong.code == 1);
  CHECK_THAT(wrong.out, Contains("expected 6") && Contains("actual 9"));

  if (parts().find("torch") != std::string::npos) {
    const auto torch = run_pipeline("[[step]]\nid = \"t\"\nuses = \"outside.torch_double\"\n");
    INFO(torch.out << torch.err);
    CHECK(torch.code == 0);
  }
}

TEST_CASE("the shipped pipelines run from the moved tree, with their data and a stage from outside") {
  if (!LOCKSTEP_HAS_GEMMA4 || std::string(LOCKSTEP_LIBTORCH_VERSION).empty()) return;
  const auto share = installed().prefix / "share/lockstep";
  const auto shipped = process::run({installed().program, "run", (share / "pipelines/gemma4.toml").string()});
  INFO(shipped.out << shipped.err);
  CHECK(shipped.code == 0);
  const auto outside = run_pipeline("[[step]]\nid = \"checkpoint\"\nuses = \"gemma4.load_checkpoint\"\nwith.path = \"" +
                                    (share / "pipelines/data/shapes-gemma4").string() +
                                    "\"\n[[step]]\nid = \"runtime\"\nuses = \"gemma4.static_runtime\"\n"
                                    "with = { profile = \"shapes_24x24_64\", max_seq = 160 }\n"
                                    "[[step]]\nid = \"layout\"\nuses = \"outside.layout\"\n");
  INFO(outside.out << outside.err);
  CHECK(outside.code == 0);
  CHECK_THAT(outside.out, Contains("has_slots"));
}

TEST_CASE("nothing that is installed names the folder it was installed to or built in") {
  for (const auto& entry : fs::recursive_directory_iterator(installed().prefix)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    INFO(entry.path());
    CHECK(bytes.find((installed().folder / "first").string()) == std::string::npos);
    if (entry.path().extension() == ".cmake")
      CHECK(bytes.find(LOCKSTEP_BINARY_DIR "/lib/liblockstep") == std::string::npos);
  }
}

TEST_CASE("every link in the installed pages leads to a file that is installed") {
  succeed({LOCKSTEP_SOURCE_DIR "/tools/check_links.sh", (installed().prefix / "share/lockstep").string()});
}

TEST_CASE("a version that does not fit is refused by the package, which shows both") {
  for (const auto* wanted : {"99.0", "0.2"}) {
    const auto result = configure(OUTSIDE_PROJECT, "wrong_version", {std::string("-DLOCKSTEP_WANTED=") + wanted});
    CHECK(result.code != 0);
    CHECK_THAT(result.err, Contains(std::string("requested version \"") + wanted + "\"") && Contains("version: 0.1"));
  }
}

TEST_CASE("a component that does not exist is refused with those that do") {
  const auto result = configure(OUTSIDE_PROJECT, "wrong_part", {"-DLOCKSTEP_PARTS=tensorflow"});
  CHECK(result.code != 0);
  CHECK_THAT(result.err, Contains("no component 'tensorflow'") && Contains("torch, gemma4"));
}

TEST_CASE("a step that links LibTorch without the component is refused with the line that brings it") {
  const auto source = installed().folder / "no_torch";
  fs::create_directories(source);
  std::ofstream(source / "CMakeLists.txt") << "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES CXX)\n"
                                              "find_package(Lockstep REQUIRED)\nlockstep_add_step(NAME a.b SOURCES "
                                              "b.cpp LINK lockstep::torch)\n";
  const auto result = configure(source.string(), "no_torch_build", {});
  CHECK(result.code != 0);
  CHECK_THAT(result.err, Contains("find_package(Lockstep COMPONENTS torch)"));
}

TEST_CASE("a LibTorch other than the one that Lockstep was built with is refused with both versions") {
  if (std::string(LOCKSTEP_LIBTORCH_VERSION).empty()) return;
  const auto torch = installed().folder / "torch";
  fs::create_directories(torch / "include/ATen/core");
  fs::create_directories(torch / "include/torch/headeronly");
  fs::create_directories(torch / "lib");
  std::ofstream(torch / "include/ATen/core/Tensor.h");
  std::ofstream(torch / "include/torch/headeronly/version.h")
      << "#define TORCH_VERSION_MAJOR 1\n#define TORCH_VERSION_MINOR 99\n#define TORCH_VERSION_PATCH 7\n";
  for (const auto* library : {"libtorch_cpu.so", "libc10.so"}) std::ofstream(torch / "lib" / library);
  const auto result = configure(
      OUTSIDE_PROJECT, "wrong_torch",
      {"-DLOCKSTEP_PARTS=torch", "-DCMAKE_PREFIX_PATH=" + torch.string() + ";" + installed().prefix.string()});
  CHECK(result.code != 0);
  CHECK_THAT(result.err, Contains("built with LibTorch " LOCKSTEP_LIBTORCH_VERSION) && Contains("LibTorch 1.99.7"));
}
