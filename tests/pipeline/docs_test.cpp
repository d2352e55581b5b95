#include <fstream>
#include <sstream>

#include "catch.hpp"
#include "workspace.hpp"

using namespace lockstep;
using namespace lockstep::test;

namespace {

/// The ```toml blocks of a page.
Strings blocks_of(const std::string& page) {
  std::ifstream stream(std::string(LOCKSTEP_SOURCE_DIR) + "/" + page);
  Strings blocks;
  bool inside = false;
  for (std::string line; std::getline(stream, line);) {
    if (line == "```toml") blocks.emplace_back();
    if (inside && line != "```") blocks.back() += line + "\n";
    inside = line == "```toml" || (inside && line != "```");
  }
  return blocks;
}

/// All ids of a pipeline: skipped, its steps need not exist in this program.
Strings ids_of(const std::string& toml) {
  Strings ids;
  std::istringstream lines(toml);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("id = \"")) ids.push_back(line.substr(6, line.rfind('"') - 6));
  }
  return ids;
}

}  // namespace

TEST_CASE("the examples of docs/pipeline.md are valid in form") {
  Workspace workspace;
  const auto blocks = blocks_of("docs/pipeline.md");
  REQUIRE(blocks.size() == 3);
  const auto first = plan(blocks[0], {.skips = ids_of(blocks[0])});
  CHECK(rendered(first) == "");
  CHECK(first.plan.steps.size() == 6);
  CHECK(findings(blocks[1], {.skips = ids_of(blocks[1])}) == Strings{"P026 3:13"});
  CHECK(findings(blocks[1], {.sets = {"recording=a"}, .skips = ids_of(blocks[1])}).empty());
  const auto changed = plan(blocks[0], {.overlays = {blocks[2]}, .skips = ids_of(blocks[0])});
  CHECK(rendered(changed) == "");
  CHECK(changed.plan.steps[2].uses == "mine.runtime");
}
