// A stage from outside the tree takes the place of prefill.

#include <regex>
#include <string>
#include <vector>

#include "catch.hpp"
#include "process.hpp"

namespace {

process::Result run(const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{LOCKSTEP_PROGRAM, "run", LOCKSTEP_SOURCE_DIR "/docs/own_stage/own_stage.toml", "--set",
                                 "environment.threads=1"};
  words.insert(words.end(), more.begin(), more.end());
  return process::run(
      words, {.folder = LOCKSTEP_BINARY_DIR, .environment = {"LOCKSTEP_PLUGIN_PATH=" OWN_PLUGINS, "NO_COLOR=1"}});
}

/// All that was written, on one line with single spaces.
std::string text_of(const process::Result& result) {
  return std::regex_replace(result.out + result.err, std::regex("\\s+"), " ");
}

}  // namespace

TEST_CASE("a stage like prefill, built outside the tree, runs behind the shipped stages and passes") {
  const auto result = run();
  INFO(text_of(result));
  CHECK(result.code == 0);
  CHECK_THAT(text_of(result), contains_text("pass padding") && contains_text("passed: 6"));
}

TEST_CASE("the stage from outside fails where the logits are those of a row of padding") {
  const auto result = run({"--set", "step.runtime.with.fault=logits_wrong_row"});
  INFO(text_of(result));
  CHECK(result.code == 1);
  CHECK_THAT(text_of(result), contains_text("FAIL padding"));
}
