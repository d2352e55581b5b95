#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "process.hpp"
#include "runtime/faults.hpp"

namespace {

struct Setting {
  std::string dtype;
  std::string picture;  ///< "shapes" or "white"
};
const std::array<Setting, 4> settings{
    {{"bfloat16", "shapes"}, {"bfloat16", "white"}, {"float32", "shapes"}, {"float32", "white"}}};

/// Far longer than the sliding window of 64, so that a fault of the window has something to change.
const std::string prompt =
    "<|image|>Name every shape. Name its colour and where it lies. Is there a circle, a square or a "
    "triangle? Which is above and which is below? Which one is on the left side of the picture, and "
    "which one is on the right side of it? Now take your time and look at it again. Describe the "
    "image.";

/// What a run of the shipped pipeline says.
struct Outcome {
  int exit_code = -1;
  std::string stage;               ///< the first that fails; empty if none does
  std::vector<std::string> names;  ///< of that stage's failed checks, each once
};

Outcome run_with(const std::string& fault, const Setting& setting) {
  std::vector<std::string> words{LOCKSTEP_BINARY_DIR "/bin/lockstep",
                                 "run",
                                 LOCKSTEP_SOURCE_DIR "/pipelines/gemma4.toml",
                                 "--json",
                                 "-",
                                 "--set",
                                 "environment.threads=1",
                                 "--set",
                                 "max_seq=224",
                                 "--set",
                                 "prompt=" + prompt,
                                 "--set",
                                 "dtype=" + setting.dtype,
                                 "--set",
                                 "step.runtime.with.fault=" + fault};
  if (setting.picture == "white") words.insert(words.end(), {"--set", "image="});
  const auto result = process::run(words);
  INFO(result.err);
  Outcome outcome{.exit_code = result.code, .stage = {}, .names = {}};
  const auto record = nlohmann::json::parse(result.out);
  for (const auto& step : record.at("steps")) {
    if (step.at("status") != "fail" && step.at("status") != "error") continue;
    outcome.stage = step.at("id");
    for (const auto& check : step.at("checks")) {
      const std::string name = check.at("name");
      if (check.at("verdict") != "fail") continue;
      if (std::ranges::find(outcome.names, name) == outcome.names.end()) outcome.names.push_back(name);
    }
    break;
  }
  return outcome;
}

/// Why a fault changes no number in a setting; empty where it must show.
std::string harmless(std::string_view fault, const Setting& setting) {
  if (fault == "embedding_scale_not_rounded" && setting.dtype == "float32") return "the scale is a float32 number";
  if (fault == "softcap_in_one_step" && setting.dtype == "float32") return "the same three float32 operations";
  if (fault == "patches_transposed" && setting.picture == "white") return "every pixel is white";
  if (fault == "kv_heads_swapped") return "one key-value head";
  return {};
}

std::string cell(const Outcome& outcome, const std::string& reason) {
  if (!reason.empty()) return reason;
  return fmt::format("`{}`", fmt::join(outcome.names, "`, `"));
}

}  // namespace

TEST_CASE("without a fault the pipeline passes") {
  for (const auto& setting : settings) CHECK(run_with("none", setting).exit_code == 0);
}

TEST_CASE("each fault of the runtime fails the pipeline, first at the guilty stage") {
  std::string table =
      "| fault | what is wrong | guilty stage | bfloat16, shapes | bfloat16, white | float32, shapes | float32, white "
      "|\n"
      "|---|---|---|---|---|---|---|\n";
  for (const auto& fault : gemma4::known_faults()) {
    table += fmt::format("| `{}` | {} | {} |", fault.name, fault.what, fault.stage);
    for (const auto& setting : settings) {
      const auto outcome = run_with(std::string(fault.name), setting);
      const auto reason = harmless(fault.name, setting);
      INFO(fault.name << ", " << setting.dtype << ", " << setting.picture);
      if (reason.empty()) {
        CHECK(outcome.exit_code == 1);
        CHECK(outcome.stage == fault.stage);
      } else {
        CHECK(outcome.exit_code == 0);
      }
      table += fmt::format(" {} |", cell(outcome, reason));
    }
    table += "\n";
  }
  if (std::getenv("LOCKSTEP_UPDATE_GOLDEN") == nullptr) return;
  const std::string path = LOCKSTEP_SOURCE_DIR "/docs/faults.md";
  std::stringstream page;
  page << std::ifstream(path).rdbuf();
  const auto text = page.str();
  const std::string mark = "<!-- table -->\n";
  const auto start = text.find(mark);
  REQUIRE(start != std::string::npos);
  std::ofstream(path) << text.substr(0, start + mark.size()) << table;
}
