// One golden text per diagnostic code: tests/**/golden/<code>*.txt. Those of family P are made from the files beside
// them: <name>.toml is the pipeline, <name>.overlay.toml an overlay, <name>.arguments the rest of the command line.
// LOCKSTEP_UPDATE_GOLDEN=1 writes the texts anew; read the difference before you commit it.

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "catch.hpp"
#include "pipeline/diagnostic_codes.hpp"
#include "workspace.hpp"

using namespace lockstep;
using namespace lockstep::test;

namespace {

namespace fs = std::filesystem;

const fs::path source_folder = LOCKSTEP_SOURCE_DIR;
const fs::path golden_folder = source_folder / "tests/pipeline/golden";

std::string content(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// Compares with a file of the repository, or writes it.
void check_approved(const fs::path& path, const std::string& text) {
  if (std::getenv("LOCKSTEP_UPDATE_GOLDEN") != nullptr) {  // NOLINT(concurrency-mt-unsafe)
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  INFO(path.string() << " is stale; LOCKSTEP_UPDATE_GOLDEN=1 writes it anew");
  CHECK(content(path) == text);
}

/// Lines "--set x=1", "--skip a", "--row a=1" and "--shard 1/2".
Arguments arguments_of(const fs::path& stem) {
  Arguments result;
  if (const auto overlay = fs::path(stem.string() + ".overlay.toml"); fs::exists(overlay))
    result.overlays.push_back(content(overlay));
  std::istringstream lines(content(stem.string() + ".arguments"));
  for (std::string line; std::getline(lines, line);) {
    const auto space = line.find(' ');
    const auto option = line.substr(0, space);
    const auto value = line.substr(space + 1);
    if (option == "--shard")
      result.shard = value;
    else
      (option == "--skip" ? result.skips : option == "--row" ? result.rows : result.sets).push_back(value);
  }
  return result;
}

/// The inputs that are no sensible files of a repository.
PlanResult generated(const std::string& code) {
  FakeCatalog catalog;
  const auto of_file = [&](const std::string& file) {
    return make_plan({.file = file, .configs = {}, .sets = {}, .skips = {}}, catalog);
  };
  if (code == "P001") return of_file("pipelines/gemma5.toml");
  if (code == "P002") return plan("schema = 1\nname = \"caf\xe9\"\n");
  if (code == "P003") return plan(std::string(10'000'001, ' '));
  FAIL("no input for " << code);
  return {};
}

}  // namespace

TEST_CASE("every diagnostic of pipelines renders as approved") {
  std::set<std::string> seen;
  std::vector<fs::path> stems;
  for (const auto& entry : fs::directory_iterator(golden_folder)) {
    const auto name = entry.path().filename().string();
    if (name.ends_with(".toml") && !name.ends_with(".overlay.toml"))
      stems.push_back(golden_folder / name.substr(0, name.size() - 5));
  }
  for (const auto* code : {"P001", "P002", "P003"}) stems.push_back(golden_folder / code);
  for (const auto& stem : stems) {
    const Workspace workspace;
    const auto code = stem.filename().string().substr(0, 4);
    INFO(stem.filename().string());
    const auto pipeline = fs::path(stem.string() + ".toml");
    const auto result = fs::exists(pipeline) ? plan(content(pipeline), arguments_of(stem)) : generated(code);
    REQUIRE_FALSE(result.diagnostics.empty());
    for (const auto& diagnostic : result.diagnostics) CHECK(diagnostic.code == code);
    check_approved(stem.string() + ".txt", rendered(result));
    seen.insert(code);
  }
  for (const auto& code : all_codes()) {
    if (code.code.starts_with('P')) CHECK(seen.contains(std::string(code.code)));
  }
}

TEST_CASE("every registered code of any family has a title, a page and a golden text") {
  std::set<std::string> golden;
  for (const auto& entry : fs::recursive_directory_iterator(source_folder / "tests")) {
    if (entry.path().extension() == ".txt" && entry.path().parent_path().filename() == "golden" &&
        entry.file_size() > 0) {
      golden.insert(entry.path().filename().string().substr(0, 4));
    }
  }
  std::set<std::string_view> seen;
  REQUIRE_FALSE(all_codes().empty());
  for (const auto& code : all_codes()) {
    INFO(code.code);
    CHECK(code.code.size() == 4);
    CHECK(seen.insert(code.code).second);
    CHECK_FALSE(code.title.empty());
    CHECK(code.page.size() > 40);
    CHECK(golden.contains(std::string(code.code)));
  }
}

TEST_CASE("every code that the core's sources name is registered, and the other way round") {
  std::set<std::string> named;
  for (const auto& entry : fs::recursive_directory_iterator(source_folder / "core")) {
    if (entry.path().extension() != ".cpp" || entry.path().filename().string().starts_with("codes_")) continue;
    const auto text = content(entry.path());
    for (auto at = text.find('"'); at != std::string::npos; at = text.find('"', at + 1)) {
      const auto word = text.substr(at + 1, 5);
      if (word.size() == 5 && word[4] == '"' && std::string_view("PLCSFRN").find(word[0]) != std::string_view::npos &&
          word.find_first_not_of("0123456789", 1) == 4) {
        named.insert(word.substr(0, 4));
      }
    }
  }
  for (const auto& code : named) {
    INFO(code);
    CHECK(find_code(code) != nullptr);
  }
  for (const auto& code : all_codes()) {
    INFO(code.code);
    CHECK(named.contains(std::string(code.code)));
  }
}

TEST_CASE("a code is found whatever its case") {
  REQUIRE(find_code("p014") != nullptr);
  CHECK(find_code("p014")->code == "P014");
  CHECK(code_page(*find_code("P014")).starts_with("P014: unknown parameter\n\n"));
  CHECK(find_code("P999") == nullptr);
  CHECK(find_code("") == nullptr);
}

TEST_CASE("docs/diagnostics.md is what the registry says") {
  check_approved(source_folder / "docs/diagnostics.md", diagnostics_markdown());
}
