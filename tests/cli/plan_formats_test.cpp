// Rows for the engines of others: GitHub's matrix, ctest's tests.

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "catch.hpp"
#include "cli/cli.hpp"

using process::run;

namespace {

const std::string pipelines = (cli::folder / "pipelines").string();

/// A project that has the tests of some pipelines, configured.
class Project {
 public:
  explicit Project(const std::string& calls, const std::vector<std::string>& settings = {}) {
    std::ofstream(scratch_.file("CMakeLists.txt")) << fmt::format(
        "cmake_minimum_required(VERSION 3.25)\n"
        "project(verified LANGUAGES NONE)\n"
        "enable_testing()\n"
        "add_executable(lockstep::program IMPORTED)\n"
        "set_target_properties(lockstep::program PROPERTIES IMPORTED_LOCATION {})\n"
        "include({}/cmake/LockstepPipelineTests.cmake)\n{}",
        LOCKSTEP_PROGRAM, LOCKSTEP_SOURCE_DIR, calls);
    std::vector<std::string> words{"cmake", "-S", scratch_.file(""), "-B", scratch_.file("b")};
    words.insert(words.end(), settings.begin(), settings.end());
    const auto configured = run(words);
    INFO(configured.err);
    REQUIRE(configured.code == 0);
  }

  /// What `ctest` says; the steps are found through `plugins`.
  process::Result ctest(std::vector<std::string> arguments, const std::string& plugins = TEST_PLUGINS) const {
    arguments.insert(arguments.begin(), {"ctest", "--test-dir", scratch_.file("b")});
    return run(arguments, {.environment = {"LOCKSTEP_PLUGIN_PATH=" + plugins}});
  }
  [[nodiscard]] const cli::Scratch& scratch() const { return scratch_; }

 private:
  cli::Scratch scratch_;
};

}  // namespace

TEST_CASE("the rows are a matrix as GitHub documents it: one line, an object with a list of objects in include") {
  const auto result = cli::lockstep({"plan", "pipelines/rows.toml", "--format", "github-matrix"});
  CHECK(result.code == 0);
  CHECK(std::count(result.out.begin(), result.out.end(), '\n') == 1);
  const auto matrix = nlohmann::json::parse(result.out);
  CHECK(matrix.size() == 1);
  REQUIRE(matrix.at("include").size() == 4);
  CHECK(matrix.at("include").at(2) == nlohmann::json{{"row", "value=2.625,text=a"}, {"value", 2.625}, {"text", "a"}});
  const auto part = cli::lockstep({"plan", "pipelines/rows.toml", "--row", "text=b", "--format", "github-matrix"});
  CHECK(nlohmann::json::parse(part.out).at("include").size() == 2);
}

TEST_CASE("what GitHub would not take is refused") {
  const auto plain = cli::lockstep({"plan", "pipelines/pass.toml", "--format", "github-matrix"});
  CHECK(plain.code == 2);
  CHECK(plain.out.empty());
  golden::check("cli/golden/C017.txt", plain.err);
  std::string values = "[0";
  for (int i = 1; i < 65; ++i) values += fmt::format(", {}", i);
  const std::vector<std::string> many{
      "plan",  "pipelines/rows.toml",           "--set",    "matrix.value=" + values + "]",
      "--set", "matrix.text=['1','2','3','4']", "--format", "github-matrix"};
  CHECK_THAT(cli::lockstep(many).err, contains_text("260 rows are more than the 256 jobs that GitHub takes"));
}

TEST_CASE("an axis that would take the place of a row's name in a job is refused") {
  const cli::Scratch scratch;
  std::ofstream(scratch.file("m.toml")) << "schema = 1\nname = \"m\"\n[matrix]\nrow = [1, 2]\n[[step]]\nid = \"a\"\n"
                                           "uses = \"toy.source\"\nwith = { values = [\"${matrix.row}\"] }\n";
  const auto result = cli::lockstep({"plan", scratch.file("m.toml"), "--format", "github-matrix"});
  CHECK(result.code == 2);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, contains_text("C017") && contains_text("'row'"));
}

TEST_CASE("each row is a test of ctest, with labels and a time limit, found anew when the pipeline changes") {
  const Project project(fmt::format(
      "lockstep_add_pipeline_tests(FILE {0}/rows.toml PREFIX verify LABELS slow numbers TIMEOUT 77 SET vars.unused=1)\n"
      "lockstep_add_pipeline_tests(FILE changing.toml)\n",
      pipelines));
  const auto write = [&](const std::string& values) {
    std::ofstream(project.scratch().file("changing.toml"))
        << "schema = 1\nname = \"c\"\n[matrix]\nv = " << values
        << "\n[[step]]\nid = \"a\"\nuses = \"toy.source\"\nwith = { values = [\"${matrix.v}\"] }\n";
  };
  const auto names = [&] {
    std::set<std::string> found;
    const auto json = nlohmann::json::parse(project.ctest({"--show-only=json-v1"}).out);
    for (const auto& test : json.at("tests")) found.insert(test.at("name"));
    return found;
  };
  write("[1]");
  CHECK(names().contains("changing.v=1"));
  write("[1, 2]");
  const auto all = names();
  CHECK(all.contains("changing.v=2"));
  CHECK(all.contains("verify"));  // `vars.unused` is a mistake, so its rows are not known: one test, which says so
}

TEST_CASE("ctest passes and fails as the rows do") {
  const Project project(
      fmt::format("lockstep_add_pipeline_tests(FILE {0}/rows.toml PREFIX verify LABELS slow TIMEOUT 77)\n"
                  "lockstep_add_pipeline_tests(FILE {0}/pass.toml)\n"
                  "lockstep_add_pipeline_tests(FILE {0}/invalid.toml)\n"
                  "lockstep_add_pipeline_tests(FILE {0}/rows.toml PREFIX red SET matrix.value=[7.5])\n",
                  pipelines));
  const auto json = nlohmann::json::parse(project.ctest({"--show-only=json-v1"}).out);
  std::map<std::string, nlohmann::json> tests;
  for (const auto& test : json.at("tests")) tests[test.at("name")] = test;
  CHECK(tests.size() == 8);
  std::map<std::string, nlohmann::json> properties;
  for (const auto& property : tests.at("verify.value=2.5,text=a").at("properties"))
    properties[property.at("name")] = property.at("value");
  CHECK(properties.at("LABELS") == nlohmann::json{"slow"});
  CHECK(properties.at("TIMEOUT") == 77);

  const auto result = project.ctest({"--output-on-failure", "-j2"});
  CHECK(result.code != 0);
  CHECK_THAT(result.out, contains_text("5 tests failed out of 8"));
  for (const auto* passed : {"verify.value=2.5,text=a", "verify.value=2.5,text=b", "pass"})
    CHECK(project.ctest({"-R", "^" + std::string(passed) + "$"}).code == 0);
  for (const auto* failed : {"verify.value=2.625,text=a", "red.value=7.5,text=b", "invalid"})
    CHECK(project.ctest({"-R", "^" + std::string(failed) + "$"}).code != 0);
  CHECK_THAT(project.ctest({"-R", "^invalid$", "--output-on-failure"}).out, contains_text("error["));
}

TEST_CASE("a test of ctest is held against a baseline and keeps its record, and the records merge") {
  const Project project(
      fmt::format("lockstep_add_pipeline_tests(FILE {0}/rows.toml PREFIX verify SET matrix.value=[2.5] JSON records)\n"
                  "lockstep_add_pipeline_tests(FILE {0}/pass.toml BASELINE base.toml)\n",
                  pipelines));
  const auto& scratch = project.scratch();
  const auto without = project.ctest({"-R", "^pass$", "--output-on-failure"});
  CHECK(without.code != 0);
  CHECK_THAT(without.out, contains_text("there is no baseline '" + scratch.file("base.toml")));
  CHECK(cli::lockstep({"run", "pipelines/pass.toml", "--baseline", scratch.file("base.toml"), "--update-baseline"})
            .code == 0);
  CHECK(project.ctest({}).code == 0);
  const auto summary = cli::lockstep({"merge", scratch.file("b/records/verify.value=2.5,text=a.json"),
                                      scratch.file("b/records/verify.value=2.5,text=b.json")});
  CHECK(summary.code == 0);
  CHECK_THAT(summary.out, contains_text("rows passed: 2 of 2"));
}

TEST_CASE("ctest asks for the rows in the environment and the folder that the tests have") {
  const Project project(
      fmt::format("lockstep_add_pipeline_tests(FILE {0}/rows.toml PREFIX verify WORKING_DIRECTORY there\n"
                  "  ENVIRONMENT LOCKSTEP_PLUGIN_PATH={1} SOME_LIST=a:b)\n",
                  pipelines, TEST_PLUGINS));
  std::filesystem::create_directory(project.scratch().file("there"));
  const auto result = project.ctest({}, "");
  CHECK(result.code != 0);
  CHECK_THAT(result.out, contains_text("2 tests failed out of 4"));
  CHECK(project.ctest({"-R", "verify.value=2.5,text=a"}, "").code == 0);
}

TEST_CASE("a pipeline whose rows were not found fails, whatever it would be a moment later") {
  // A program that cannot plan but validates everything, as one whose plugins appear in between.
  const Project project(
      fmt::format("file(WRITE ${{CMAKE_BINARY_DIR}}/half [[#!/bin/sh\n"
                  "[ \"$1\" = validate ] && exit 0\necho 'no rows ]==] today' >&2\nexit $CODE\n]])\n"
                  "file(CHMOD ${{CMAKE_BINARY_DIR}}/half PERMISSIONS OWNER_READ OWNER_EXECUTE)\n"
                  "set_target_properties(lockstep::program PROPERTIES\n"
                  "  IMPORTED_LOCATION ${{CMAKE_BINARY_DIR}}/half)\n"
                  "lockstep_add_pipeline_tests(FILE {0}/rows.toml PREFIX refused ENVIRONMENT CODE=2)\n"
                  "lockstep_add_pipeline_tests(FILE {0}/rows.toml PREFIX nothing ENVIRONMENT CODE=0)\n",
                  pipelines));
  const auto result = project.ctest({"--output-on-failure"});
  CHECK(result.code != 0);
  CHECK_THAT(result.out, contains_text("2 tests failed out of 2"));
  CHECK_THAT(result.out, contains_text("no rows ]==] today"));
}

TEST_CASE("a program that is not built yet is a test that fails") {
  const Project project(fmt::format(
      "set_target_properties(lockstep::program PROPERTIES IMPORTED_LOCATION ${{CMAKE_BINARY_DIR}}/not_yet)\n"
      "lockstep_add_pipeline_tests(FILE {0}/rows.toml PREFIX verify LABELS slow)\n",
      pipelines));
  const auto result = project.ctest({"-L", "slow", "--output-on-failure"});
  CHECK(result.code != 0);
  CHECK_THAT(result.out, contains_text("1 tests failed out of 1"));
}

TEST_CASE("a build of several configurations runs the program of the one that ctest is asked for") {
  const Project project(
      fmt::format("set_target_properties(lockstep::program PROPERTIES IMPORTED_CONFIGURATIONS \"RELEASE;DEBUG\"\n"
                  "  IMPORTED_LOCATION_RELEASE {1} IMPORTED_LOCATION_DEBUG ${{CMAKE_BINARY_DIR}}/not_there)\n"
                  "lockstep_add_pipeline_tests(FILE {0}/pass.toml)\n",
                  pipelines, LOCKSTEP_PROGRAM),
      {"-G", "Ninja Multi-Config"});
  CHECK(project.ctest({"-C", "Release"}).code == 0);
  CHECK(project.ctest({"-C", "Debug"}).code != 0);
  CHECK(project.ctest({}).code != 0);
}

TEST_CASE("the build makes the targets that the pipelines need") {
  const Project project(
      fmt::format("add_custom_target(needed COMMAND ${{CMAKE_COMMAND}} -E touch ${{CMAKE_BINARY_DIR}}/made)\n"
                  "lockstep_add_pipeline_tests(FILE {0}/pass.toml DEPENDS needed)\n",
                  pipelines));
  CHECK(run({"cmake", "--build", project.scratch().file("b")}).code == 0);
  CHECK(std::filesystem::exists(project.scratch().file("b") + "/made"));
}
