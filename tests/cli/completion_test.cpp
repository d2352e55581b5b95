// The completion scripts in the shells that they are for.

#include <fmt/format.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "catch.hpp"
#include "cli/cli.hpp"

using process::run;

namespace {

/// What bash offers for `words`, of which the last is being typed.
std::set<std::string> bash_offers(const std::vector<std::string>& words, const std::string& folder = ".") {
  std::string line;
  for (const auto& word : words) line += fmt::format(" '{}'", word);
  const auto script = fmt::format(
      "source <('{0}' completion bash); COMP_WORDS=('{0}'{1}); COMP_CWORD={2}; _lockstep; printf '%s\\n' "
      "\"${{COMPREPLY[@]}}\"",
      LOCKSTEP_PROGRAM, line, words.size());
  const auto result = run({"bash", "-c", script},
                          {.folder = folder, .environment = {std::string("LOCKSTEP_PLUGIN_PATH=") + TEST_PLUGINS}});
  CHECK(result.err.empty());
  std::set<std::string> offers;
  std::istringstream lines(result.out);
  for (std::string offer; std::getline(lines, offer);)
    if (!offer.empty()) offers.insert(offer);
  return offers;
}

/// The arguments of zsh's _arguments, one a line, when the words after the program are `words`.
std::string zsh_specs(const std::vector<std::string>& words) {
  std::string line;
  for (const auto& word : words) line += fmt::format(" '{}'", word);
  const auto script = fmt::format(
      "compdef() {{ }}; _arguments() {{ print -rl -- \"$@\" }}; _describe() {{ print -rl -- ${{(P)2}} }}; "
      "source <('{0}' completion zsh); words=('{0}'{1}); CURRENT={2}; _lockstep",
      LOCKSTEP_PROGRAM, line, words.size() + 1);
  const auto result = run({"zsh", "-f", "-c", script});
  CHECK(result.err.empty());
  return result.out;
}

}  // namespace

TEST_CASE("bash completes verbs, flags, words of an option and files") {
  CHECK(bash_offers({"ru"}) == std::set<std::string>{"run"});
  CHECK(bash_offers({"run", "--fail"}) == std::set<std::string>{"--fail-fast"});
  CHECK(bash_offers({"run", "--color", "a"}) == std::set<std::string>{"auto", "always"});
  CHECK(bash_offers({"explain", "C01"}).contains("C010"));
  CHECK(bash_offers({"describe", "toy."}).contains("toy.compare"));
  CHECK(bash_offers({"new", ""}) == std::set<std::string>{"step"});
}

TEST_CASE("bash completes pipelines, and the ids that are written in the one that was given") {
  const cli::Scratch folder;
  std::ofstream(folder.file("a.toml")) << "[[step]]\nid = \"first\"\n[[step]]\n  id=\"second\" # two\n";
  std::ofstream(folder.file("notes.txt")) << "no pipeline";
  CHECK(bash_offers({"run", ""}, folder.file("")) == std::set<std::string>{"a.toml"});
  CHECK(bash_offers({"run", "a.toml", "--only", ""}, folder.file("")) == std::set<std::string>{"first", "second"});
}

TEST_CASE("bash completes the rows of the pipeline's matrix") {
  CHECK(bash_offers({"run", "pipelines/rows.toml", "--row", "value=2.5"}, cli::folder.string()) ==
        std::set<std::string>{"value=2.5,text=a", "value=2.5,text=b"});
}

TEST_CASE("completing in a hostile pipeline runs nothing of it") {
  const cli::Scratch folder;
  std::ofstream(folder.file("a.toml")) << "[[step]]\nid = \"$(touch hit)\"\n[[step]]\nid = \"good\"\n";
  CHECK(bash_offers({"run", "a.toml", "--only", ""}, folder.file("")) == std::set<std::string>{"good"});
  CHECK_FALSE(std::filesystem::exists(folder.file("hit")));
}

TEST_CASE("zsh is told every verb, and of each its options and arguments") {
  CHECK_THAT(zsh_specs({""}), contains_text("run:runs a pipeline and reports its verdicts"));
  const auto specs = zsh_specs({"run", ""});
  CHECK_THAT(specs, contains_text("*--set=[a variable, or environment.x, or step.<id>.<key>]:KEY=VALUE: "));
  CHECK_THAT(specs, contains_text("--color=[auto, always or never]:WHEN:(auto always never)"));
  CHECK_THAT(specs, contains_text(":PIPELINE:_files -g \"*.toml\""));
  CHECK_THAT(zsh_specs({"describe", ""}), contains_text(":STEP:_lockstep_steps"));
  CHECK_THAT(specs, contains_text(":ROW:_lockstep_rows"));
  CHECK_THAT(zsh_specs({"new", ""}), contains_text("step:(step)"));
}

TEST_CASE("another shell is refused with the ones that there are") {
  const auto result = run({LOCKSTEP_PROGRAM, "completion", "fish"});
  CHECK(result.code == 2);
  CHECK_THAT(result.err, contains_text("error[C005]: there is no completion for the shell 'fish'"));
  CHECK_THAT(result.err, contains_text("bash and zsh"));
}
