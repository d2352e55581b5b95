// What `lockstep new step` writes is built, tested and run as it is.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "catch.hpp"
#include "install/installed.hpp"
#include "process.hpp"

using namespace install_test;
using Catch::Matchers::Contains;

namespace {

process::Result new_step(const std::string& name, const fs::path& folder, const Words& more = {}) {
  Words words{installed().program, "new", "step", name};
  words.insert(words.end(), more.begin(), more.end());
  return process::run(words, {.folder = folder});
}

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  REQUIRE(stream.is_open());
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::set<std::string> files_in(const fs::path& folder) {
  std::set<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (!entry.is_directory()) files.insert(entry.path().lexically_relative(folder).string());
  return files;
}

/// Builds and tests `source`; nothing may be warned of.
fs::path build(const fs::path& source, const std::string& name) {
  const auto folder = installed().folder / name;
  const auto configured = configure(source.string(), name, {});
  INFO(configured.out << configured.err);
  REQUIRE(configured.code == 0);
  const auto built = succeed({CMAKE_PROGRAM, "--build", folder.string()});
  CHECK_THAT(built.out + built.err, !Contains("warning"));
  succeed({CTEST_PROGRAM, "--test-dir", folder.string(), "--no-tests=error", "--output-on-failure"});
  return folder;
}

void page_is_what_the_step_declares(const std::string& step, const fs::path& plugin, const fs::path& page) {
  const auto described = succeed({installed().program, "describe", plugin.string(), "--markdown"});
  CHECK(text_of(page) == described.out);
  CHECK_THAT(described.out, Contains("# " + step));
}

/// As much of a source tree as `lockstep new` looks at, with this Lockstep as a package below it and its warnings.
fs::path small_tree() {
  const auto root = installed().folder / "tree";
  for (const auto* folder : {"core/include/lockstep", "plugins", "tests", "pipelines", "docs/steps"})
    fs::create_directories(root / folder);
  std::ofstream(root / "core/include/lockstep/step.hpp");
  std::ofstream(root / "plugins/CMakeLists.txt");
  std::ofstream(root / "CMakeLists.txt")
      << "cmake_minimum_required(VERSION 3.25)\nproject(tree LANGUAGES CXX)\nfind_package(Lockstep REQUIRED)\n"
         "enable_testing()\nadd_library(lockstep_options INTERFACE)\n"
         "target_compile_options(lockstep_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor "
         "-Wconversion -Wno-sign-conversion -Werror)\n"
         "add_subdirectory(plugins/mine)\nadd_subdirectory(tests/mine)\n";
  return root;
}

}  // namespace

TEST_CASE("a new step out of tree builds, passes its test and runs as it is, and is overwritten by no second one") {
  const auto project = installed().folder / "fresh";
  const auto written = new_step("mine.rms_norm", installed().folder, {"--out-of-tree", project.string()});
  INFO(written.out << written.err);
  REQUIRE(written.code == 0);
  CHECK(files_in(project) == std::set<std::string>{".gitignore", "CMakeLists.txt", "README.md", "docs/mine.rms_norm.md",
                                                   "pipelines/rms_norm.toml", "src/rms_norm.cpp",
                                                   "test/rms_norm_test.cpp"});
  const auto plugins = build(project, "fresh_build") / "plugins";
  const auto pipeline = (project / "pipelines/rms_norm.toml").string();
  const auto right = succeed({installed().program, "run", pipeline, "--plugin-path", plugins.string()});
  CHECK_THAT(right.out, Contains("passed: 1"));
  const auto wrong = process::run({installed().program, "run", pipeline, "--plugin-path", plugins.string(), "--set",
                                   "step.rms_norm.with.epsilon=0.1"});
  CHECK(wrong.code == 1);
  page_is_what_the_step_declares("mine.rms_norm", plugins / "mine.rms_norm.so", project / "docs/mine.rms_norm.md");

  const auto before = text_of(project / "src/rms_norm.cpp");
  fs::remove(project / "README.md");
  const auto again = new_step("mine.rms_norm", installed().folder, {"--out-of-tree", project.string()});
  CHECK(again.code == 2);
  CHECK_THAT(again.err, Contains("N003") && Contains("src/rms_norm.cpp") && !Contains("README.md"));
  CHECK_FALSE(fs::exists(project / "README.md"));
  CHECK(text_of(project / "src/rms_norm.cpp") == before);
}

TEST_CASE("a second step of a project outside is added to it, from inside or by its folder") {
  const auto project = installed().folder / "two_steps";
  REQUIRE(new_step("mine.rms_norm", installed().folder, {"--out-of-tree", project.string()}).code == 0);
  const auto inside = new_step("mine.other", project / "src");
  INFO(inside.out << inside.err);
  REQUIRE(inside.code == 0);
  CHECK_THAT(inside.out, Contains("extended  ") && Contains("CMakeLists.txt"));
  REQUIRE(new_step("yours.third", installed().folder, {"--out-of-tree", project.string()}).code == 0);
  const auto plugins = build(project, "two_steps_build") / "plugins";
  for (const auto* pipeline : {"rms_norm", "other", "third"})
    succeed({installed().program, "run", (project / "pipelines" / (std::string(pipeline) + ".toml")).string(),
             "--plugin-path", plugins.string()});
}

TEST_CASE("new steps in a source tree build and pass, and a second one of a family extends its build lines") {
  const auto root = small_tree();
  const auto first = new_step("mine.rms_norm", root / "docs");  // anywhere below the root
  INFO(first.out << first.err);
  REQUIRE(first.code == 0);
  const auto second = new_step("mine.step", root);
  INFO(second.out << second.err);
  REQUIRE(second.code == 0);
  CHECK_THAT(second.out, Contains("extended  plugins/mine/CMakeLists.txt"));
  CHECK(text_of(root / "plugins/mine/CMakeLists.txt") ==
        "lockstep_add_step(NAME mine.rms_norm SOURCES rms_norm.cpp)\nlockstep_add_step(NAME mine.step SOURCES "
        "step.cpp)\n");
  const auto plugins = build(root, "tree_build") / "plugins";
  for (const std::string name : {"rms_norm", "step"}) {
    succeed({installed().program, "run", (root / "pipelines" / (name + ".toml")).string(), "--plugin-path",
             plugins.string()});
    page_is_what_the_step_declares("mine." + name, plugins / ("mine." + name + ".so"),
                                   root / "docs/steps" / ("mine." + name + ".md"));
  }
}

TEST_CASE("if one file cannot be written, none is, and what was extended is as it was") {
  const auto root = installed().folder / "half";
  for (const auto* folder : {"core/include/lockstep", "plugins/mine", "docs"}) fs::create_directories(root / folder);
  std::ofstream(root / "core/include/lockstep/step.hpp");
  std::ofstream(root / "plugins/CMakeLists.txt");
  std::ofstream(root / "plugins/mine/CMakeLists.txt") << "# mine\n";
  std::ofstream(root / "tests");  // a file where a folder is needed
  const auto before = files_in(root);
  const auto result = new_step("mine.rms_norm", root);
  CHECK(result.code == 4);
  CHECK_THAT(result.err, Contains("tests"));
  CHECK(files_in(root) == before);
  CHECK_FALSE(fs::exists(root / "pipelines"));
  CHECK(text_of(root / "plugins/mine/CMakeLists.txt") == "# mine\n");
}
