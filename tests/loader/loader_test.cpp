#include "loader/loader.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "catch.hpp"
#include "engine/executor.hpp"
#include "golden.hpp"
#include "pipeline/render_diagnostic.hpp"
#include "process.hpp"

using namespace lockstep;
namespace fs = std::filesystem;

namespace {

using Outcome = StepCatalog::Outcome;

StepCatalog::Lookup find(const std::string& uses) {
  PluginLoader loader({fs::path(TEST_PLUGINS)});
  return loader.find(uses, {});
}

std::string file_of(const std::string& uses) { return std::string(TEST_PLUGINS) + "/" + uses + ".so"; }

void require_refused(const std::string& uses, const std::string& code, const std::string& message) {
  const auto lookup = find(uses);
  INFO(uses);
  CHECK(lookup.outcome == Outcome::not_loadable);
  CHECK(lookup.handle.step == nullptr);
  CHECK(lookup.diagnostic.code == code);
  CHECK(lookup.diagnostic.message == message);
  CHECK_FALSE(lookup.diagnostic.help.empty());
}

/// A folder that is gone at the end of the test.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("lockstep-loader-" + std::to_string(getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
};

PlannedStep planned(const std::string& id, StepHandle handle) {
  return {.id = id, .uses = "good." + id, .handle = std::move(handle)};
}

}  // namespace

TEST_CASE("a loaded plugin gives a fresh step with its declarations, its file and the linker's build id") {
  const auto lookup = find("good.counter");
  REQUIRE(lookup.outcome == Outcome::loaded);
  CHECK(lookup.handle.step->declarations().outputs.at(0)->info().type == "counting.count/1");
  CHECK(lookup.handle.file == file_of("good.counter"));
  CHECK(lookup.handle.build_id.size() == 40);
  CHECK(find("good.counter").handle.step != lookup.handle.step);
}

TEST_CASE("a plugin with an undefined symbol is refused with the symbol's readable name") {
  require_refused("bad.undefined_symbol", "L002",
                  "plugin '" + file_of("bad.undefined_symbol") +
                      "' cannot be loaded: undefined symbol: elsewhere::defined_nowhere(int)");
}

TEST_CASE("a plugin whose dependency is missing is refused with the library's name") {
  require_refused("bad.missing_dependency", "L002",
                  "plugin '" + file_of("bad.missing_dependency") +
                      "' cannot be loaded: libvanished.so: cannot open shared object file: No such file or directory");
}

TEST_CASE("a plugin with another stamp is refused before its C++ runs, with the field that differs") {
  require_refused("bad.wrong_api", "L005",
                  "plugin '" + file_of("bad.wrong_api") +
                      "' does not fit this engine: it was built for engine API 999, this engine has API 3");
  require_refused("bad.no_stamp", "L005",
                  "plugin '" + file_of("bad.no_stamp") +
                      "' does not fit this engine: its stamp does not begin with Lockstep's mark");
  const auto lookup = find("bad.wrong_library");
  CHECK(lookup.diagnostic.message.find("its standard library is 'libc++ abi 1', the engine's is '") !=
        std::string::npos);
}

TEST_CASE("plugins of two LibTorch versions do not load into one process") {
  CHECK(find("bad.libtorch_one").outcome == Outcome::loaded);
  require_refused("bad.libtorch_two", "L005",
                  "plugin '" + file_of("bad.libtorch_two") +
                      "' does not fit this engine: it was built against LibTorch 2.0.0, the plugins opened before it "
                      "against 1.0.0");
}

TEST_CASE("a shared library without the entry is not a plugin") {
  require_refused(
      "bad.no_entry", "L003",
      "'" + file_of("bad.no_entry") + "' is a shared library but not a plugin: it has no symbol 'lockstep_plugin'");
}

TEST_CASE("an entry that throws or returns null is an error of the plugin, not a crash") {
  require_refused("bad.entry_throws", "L004",
                  "plugin '" + file_of("bad.entry_throws") + "': its entry 'lockstep_plugin' threw: entry refused");
  require_refused("bad.entry_null", "L004",
                  "plugin '" + file_of("bad.entry_null") + "': its entry 'lockstep_plugin' returned null");
}

TEST_CASE("a file whose step has another name is refused with both names") {
  require_refused("bad.other_name", "L006",
                  "plugin '" + file_of("bad.other_name") + "' holds the step 'good.other', expected 'bad.other_name'");
}

TEST_CASE("what a constructor throws is reported, whether or not it is a std::exception") {
  require_refused("bad.constructor_throws", "L007",
                  "plugin '" + file_of("bad.constructor_throws") +
                      "': the constructor of step 'bad.constructor_throws' failed: no luck today");
  require_refused(
      "bad.constructor_throws_int", "L007",
      "plugin '" + file_of("bad.constructor_throws_int") +
          "': the constructor of step 'bad.constructor_throws_int' failed: an exception that is not derived "
          "from std::exception");
}

TEST_CASE("text files, empty files, folders and dangling links in a plugin's place are refused with the reason") {
  const Folder folder;
  std::ofstream(folder.path / "a.text.so") << "not a library\n";
  std::ofstream(folder.path / "a.empty.so");
  fs::create_directory(folder.path / "a.folder.so");
  fs::create_symlink("nowhere", folder.path / "a.dangling.so");
  PluginLoader loader({folder.path});
  const auto reason = [&](const std::string& uses) {
    const auto lookup = loader.find(uses, {});
    CHECK(lookup.outcome == Outcome::not_loadable);
    CHECK(lookup.diagnostic.code == "L002");
    return lookup.diagnostic.message.substr(lookup.diagnostic.message.find("loaded: "));
  };
  CHECK(reason("a.text") == "loaded: file too short");
  CHECK(reason("a.empty") == "loaded: file too short");
  CHECK(reason("a.folder") == "loaded: cannot read file data: Is a directory");
  CHECK(reason("a.dangling") == "loaded: cannot open shared object file: No such file or directory");
}

TEST_CASE("a plugin that was cut off at any length is refused, and the process lives on") {
  const Folder folder;
  const auto whole = fs::file_size(file_of("good.counter"));
  PluginLoader loader({folder.path});
  for (std::uintmax_t size = 64; size < whole; size += whole / 7) {
    const auto copy = folder.path / ("cut" + std::to_string(size) + ".off.so");
    fs::copy_file(file_of("good.counter"), copy);
    fs::resize_file(copy, size);
    const auto lookup = loader.find("cut" + std::to_string(size) + ".off", {});
    INFO(size << " of " << whole << " bytes: " << lookup.diagnostic.message);
    CHECK(lookup.outcome == Outcome::not_loadable);
  }
}

TEST_CASE("the first folder with the file wins, and its failure is no reason to try the next") {
  const Folder folder;
  std::ofstream(folder.path / "good.counter.so")
      << "not a library, though long enough to be read as a header by the linker";
  PluginLoader broken_first({folder.path, TEST_PLUGINS});
  CHECK(broken_first.find("good.counter", {}).outcome == Outcome::not_loadable);
  PluginLoader good_first({TEST_PLUGINS, folder.path});
  CHECK(good_first.find("good.counter", {}).outcome == Outcome::loaded);
}

TEST_CASE("the folders asked for come first, then those of LOCKSTEP_PLUGIN_PATH in its order, then the program's own") {
  const std::string before = std::getenv("LOCKSTEP_PLUGIN_PATH") != nullptr ? std::getenv("LOCKSTEP_PLUGIN_PATH") : "";
  ::setenv("LOCKSTEP_PLUGIN_PATH", "/third::/fourth", 1);
  const auto folders = PluginLoader::default_folders({"/first", "/second/../second"});
  ::setenv("LOCKSTEP_PLUGIN_PATH", before.c_str(), 1);
  const auto own = fs::read_symlink("/proc/self/exe").parent_path() / "../lib/lockstep/plugins";
  CHECK(folders == std::vector<fs::path>{"/first", "/second", "/third", "/fourth", own.lexically_normal()});
}

TEST_CASE("a plugin is opened once and stays open when its steps are gone") {
  const auto* entry = find("good.counter").handle.entry;
  REQUIRE(entry != nullptr);
  CHECK(find("good.counter").handle.entry == entry);
  std::ifstream maps("/proc/self/maps");
  const std::string mapped{std::istreambuf_iterator<char>(maps), {}};
  CHECK(mapped.find(file_of("good.counter")) != std::string::npos);
}

TEST_CASE("a plugin shows the linker one function, its entry") {
  const auto listed = process::run({"nm", "--dynamic", "--defined-only", "--format=posix", file_of("good.counter")});
  REQUIRE(listed.code == 0);
  std::set<std::string> functions;
  std::istringstream lines(listed.out);
  for (std::string name, kind, rest; lines >> name >> kind && std::getline(lines, rest);) {
    if (kind == "T") functions.insert(name);
  }
  CHECK(functions == std::set<std::string>{"lockstep_plugin"});
}

TEST_CASE("a step that no folder holds is not found, and the folders searched are named") {
  const auto lookup = find("good.nothing");
  CHECK(lookup.outcome == Outcome::not_found);
  CHECK(lookup.diagnostic.code == "L001");
  CHECK(lookup.diagnostic.help == "searched for good.nothing.so in: " TEST_PLUGINS
                                  "; name its folder with --plugin-path DIR or LOCKSTEP_PLUGIN_PATH");
  CHECK(find("../plugins/good.counter").outcome == Outcome::not_found);
}

TEST_CASE("a plugin that no folder holds but the build folder here is said to lie there") {
  const Folder project;
  fs::create_directories(project.path / "build/plugins");
  fs::copy_file(file_of("good.counter"), project.path / "build/plugins/mine.counter.so");
  const auto before = fs::current_path();
  fs::current_path(project.path);
  const auto lookup = find("mine.counter");
  fs::current_path(before);
  CHECK(lookup.outcome == Outcome::not_found);
  CHECK_THAT(lookup.diagnostic.help, contains_text("build/plugins has it: add --plugin-path build/plugins"));
}

TEST_CASE("an explicit plugin file is opened where it lies, and must exist") {
  PluginLoader loader({});
  CHECK(loader.find("good.counter", file_of("good.counter")).outcome == Outcome::loaded);
  CHECK(loader.find("good.counter", "/nowhere/at/all.so").outcome == Outcome::not_found);
  CHECK(loader.find("good.counter", file_of("good.count_reader")).diagnostic.code == "L006");
}

TEST_CASE("names lists every file of the folders without opening one") {
  PluginLoader loader({TEST_PLUGINS, "/nowhere"});
  const auto names = loader.names();
  CHECK(std::count(names.begin(), names.end(), "good.counter") == 1);
  CHECK(std::count(names.begin(), names.end(), "bad.entry_null") == 1);
}

TEST_CASE("a type unknown to the engine flows between two plugins") {
  Plan plan;
  plan.environment.threads = 1;
  plan.steps.push_back(planned("counter", find("good.counter").handle));
  plan.steps.push_back(planned("count_reader", find("good.count_reader").handle));
  plan.steps[1].wires.push_back({.input = "count", .step = 0, .output = "count"});
  const auto record = execute(plan, {}, {});
  CHECK(record.verdict == RunVerdict::pass);
  CHECK(record.steps[1].checks.at(0).verdict == Verdict::pass);
  CHECK(record.steps[0].outputs.at(0).type == "counting.count/1");
}

TEST_CASE("an exception from run that is not a std::exception makes the step an ERROR and the run goes on") {
  Plan plan;
  plan.environment.threads = 1;
  plan.steps.push_back(planned("foreign_run", find("good.foreign_run").handle));
  plan.steps.push_back(planned("counter", find("good.counter").handle));
  const auto record = execute(plan, {}, {});
  CHECK(record.steps[0].status == StepStatus::error);
  CHECK(record.steps[0].reason == "threw an exception that is not derived from std::exception");
  CHECK(record.steps[1].status == StepStatus::done);
  CHECK(record.exit_code == 4);
}

TEST_CASE("the full text of every plugin diagnostic is pinned") {
  const auto text_of = [](const std::string& uses) {
    return golden::replaced(render(find(uses).diagnostic, false), TEST_PLUGINS, "plugins");
  };
  golden::check("loader/golden/L001.txt", text_of("good.nothing"));
  golden::check("loader/golden/L002.txt", text_of("bad.undefined_symbol"));
  golden::check("loader/golden/L003.txt", text_of("bad.no_entry"));
  golden::check("loader/golden/L004.txt", text_of("bad.entry_throws"));
  golden::check("loader/golden/L005.txt", text_of("bad.wrong_api"));
  golden::check("loader/golden/L006.txt", text_of("bad.other_name"));
  golden::check("loader/golden/L007.txt", text_of("bad.constructor_throws"));
}
