// docs/steps.md and docs/steps/*.md are what `lockstep describe STEP --markdown` says about each step that is shipped.

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli.hpp"

namespace {

const std::filesystem::path plugins = std::filesystem::path(LOCKSTEP_BINARY_DIR) / "lib/lockstep/plugins";
const std::filesystem::path docs = std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "docs/steps";

std::set<std::string> stems(const std::filesystem::path& folder, const std::string& extension) {
  std::set<std::string> names;
  if (!std::filesystem::exists(folder)) return names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == extension) names.insert(entry.path().stem().string());
  return names;
}

}  // namespace

TEST_CASE("the step reference is what the steps declare") {
  const auto steps = stems(plugins, ".so");
  for (const auto& step : steps) {
    const auto page = process::run({LOCKSTEP_PROGRAM, "describe", step, "--markdown"});
    INFO(step << ": " << page.err);
    REQUIRE(page.code == 0);
    golden::check("../docs/steps/" + step + ".md", page.out);
  }
}

#ifdef LOCKSTEP_WITH_TORCH
TEST_CASE("the index of the step reference lists every step with its summary, and no page is of a step that is gone") {
  std::string index =
      "# Steps\n\nEvery step that is shipped, as `lockstep describe STEP --markdown` shows it. `lockstep list` shows "
      "the steps that\n"
      "are found on your machine.\n\n| step | what it does |\n| --- | --- |\n";
  const auto steps = stems(plugins, ".so");
  for (const auto& step : steps) {
    const auto page = process::run({LOCKSTEP_PROGRAM, "describe", step, "--json"});
    REQUIRE(page.code == 0);
    index += "| [" + step + "](steps/" + step + ".md) | " +
             nlohmann::json::parse(page.out).at("summary").get<std::string>() + " |\n";
  }
  golden::check("../docs/steps.md", index);
  CHECK(stems(docs, ".md") == steps);
}
#endif
