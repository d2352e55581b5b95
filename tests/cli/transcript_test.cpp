// What a user sees, word for word: standard output, standard error and exit code of real runs.

#include "cli.hpp"

namespace {

struct Transcript {
  const char* name;
  int code;
  std::vector<std::string> arguments;
};

std::string transcript(const std::vector<std::string>& arguments, const process::Result& result) {
  std::string text = "$ lockstep";
  for (const auto& argument : arguments) text += " " + argument;
  text += "\n" + cli::normalised(result.out);
  if (!result.err.empty()) text += "--- standard error\n" + cli::normalised(result.err);
  return text + "--- exit code " + std::to_string(result.code) + "\n";
}

}  // namespace

TEST_CASE("runs read as approved") {
  const auto example = GENERATE(
      Transcript{"pass", 0, {"run", "pipelines/pass.toml"}}, Transcript{"fail", 1, {"run", "pipelines/fail.toml"}},
      Transcript{"warn", 0, {"run", "pipelines/warn.toml"}},
      Transcript{"vacuous", 1, {"run", "pipelines/vacuous.toml"}},
      Transcript{"error", 4, {"run", "pipelines/error.toml"}}, Transcript{"skip", 0, {"run", "pipelines/skip.toml"}},
      Transcript{"layers", 1, {"run", "pipelines/layers.toml"}},
      Transcript{"invalid", 2, {"run", "pipelines/invalid.toml"}},
      Transcript{"quiet", 1, {"run", "pipelines/fail.toml", "--quiet"}},
      Transcript{"quiet-pass", 0, {"run", "pipelines/pass.toml", "--quiet"}},
      Transcript{"verbose", 1, {"run", "pipelines/fail.toml", "--verbose"}},
      Transcript{"color", 1, {"run", "pipelines/fail.toml", "--color=always"}},
      Transcript{"only", 0, {"run", "pipelines/fail.toml", "--only", "reference"}},
      Transcript{"unscored", 0, {"run", "pipelines/fail.toml", "--only", "error_spreads"}},
      Transcript{"fail-fast", 1, {"run", "pipelines/fail.toml", "--fail-fast"}},
      Transcript{"set", 1, {"run", "pipelines/pass.toml", "--set", "right=[1.0]"}});
  INFO(example.name);
  const auto result = cli::lockstep(example.arguments);
  CHECK(result.code == example.code);
  golden::check(std::string("cli/golden/") + example.name + ".txt", transcript(example.arguments, result));
}

TEST_CASE("verbs that run nothing read as approved") {
  const auto example =
      GENERATE(Transcript{"validate", 0, {"validate", "pipelines/pass.toml"}},
               Transcript{"validate-invalid", 2, {"validate", "pipelines/invalid.toml"}},
               Transcript{"plan", 0, {"plan", "pipelines/warn.toml", "--set", "step.runtime.with.text=hello"}},
               Transcript{"plan-skip", 0, {"plan", "pipelines/skip.toml", "--skip", "picture"}},
               Transcript{"plan-json", 0, {"plan", "pipelines/skip.toml", "--json"}},
               Transcript{"describe", 0, {"describe", "toy.rules"}},
               Transcript{"describe-markdown", 0, {"describe", "toy.rules", "--markdown"}},
               Transcript{"describe-json", 0, {"describe", "toy.rules", "--json"}},
               Transcript{"describe-unknown", 2, {"describe", "toy.ruels"}}, Transcript{"help", 0, {"--help"}},
               Transcript{"help-run", 0, {"run", "--help"}}, Transcript{"help-compare", 0, {"compare", "--help"}},
               Transcript{"version", 0, {"--version"}}, Transcript{"explain", 0, {"explain", "c009"}});
  INFO(example.name);
  const auto result = cli::lockstep(example.arguments);
  CHECK(result.code == example.code);
  golden::check(std::string("cli/golden/") + example.name + ".txt", transcript(example.arguments, result));
}

TEST_CASE("help works as a verb and as an option") {
  CHECK(cli::lockstep({"help"}).out == cli::lockstep({"--help"}).out);
  CHECK(cli::lockstep({"help", "--help"}).out == cli::lockstep({"--help"}).out);
  CHECK(cli::lockstep({"help", "run"}).out == cli::lockstep({"run", "--help"}).out);
  const auto unknown = cli::lockstep({"help", "rum"});
  CHECK(unknown.code == 2);
  CHECK(unknown.err.find("unknown verb 'rum'") != std::string::npos);
}

TEST_CASE("explain without a code lists each code that the documentation has, with its title") {
  const auto result = cli::lockstep({"explain"});
  CHECK(result.code == 0);
  const auto document = cli::content(std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "docs/diagnostics.md");
  std::string headings;
  const std::regex heading("### ([A-Z][0-9]{3}): (.*)");
  for (std::sregex_iterator match(document.begin(), document.end(), heading), end; match != end; ++match)
    headings += (*match)[1].str() + "  " + (*match)[2].str() + "\n";
  CHECK_FALSE(headings.empty());
  CHECK(result.out == headings);
}
