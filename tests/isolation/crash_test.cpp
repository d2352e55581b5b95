// What a step does to its process: the run goes on and says what happened.

#include <csignal>
#include <string>

#include "golden.hpp"
#include "isolation.hpp"

using isolation::Run;
using isolation::victim;

namespace {

const std::string plugin = TEST_PLUGINS "/iso.victim.so";

/// The step crashed, its readers are skipped, all others ran.
void check_crashed(const Run& run, const std::string& reason) {
  INFO(run.result.out << run.result.err);
  CHECK(run.result.code == 5);
  CHECK(run.record.at("verdict") == "crashed");
  CHECK(run.record.at("exit_code") == 5);
  CHECK(run.status("victim") == R"("crashed")");
  CHECK(run.reason("victim") == reason);
  CHECK(run.at("victim").at("outputs").empty());
  CHECK(run.status("reader") == R"("skipped")");
  CHECK(run.reason("reader") == "'victim' crashed");
  CHECK(run.status("other") == R"("pass")");
  CHECK(run.result.err.find("step 'victim' " + reason) != std::string::npos);
}

}  // namespace

TEST_CASE("a signal ends the step and not the run") {
  const auto [how, text] = GENERATE(std::pair("segfaults", "11 (SIGSEGV)"), std::pair("aborts", "6 (SIGABRT)"),
                                    std::pair("throws_in_a_thread", "6 (SIGABRT)"));
  check_crashed(Run(victim(how)), fmt::format("was ended by signal {} in {}", text, plugin));
}

TEST_CASE("a kill from outside may be the kernel's for lack of memory") {
  check_crashed(Run(victim("is_killed")),
                "was ended by signal 9 (SIGKILL), perhaps by the kernel for lack of memory, in " + plugin);
}

TEST_CASE("a call of exit is a crash, whatever its code and way") {
  const auto how = GENERATE("exits", "exits_at_once");
  const auto code = GENERATE("0", "3");
  check_crashed(Run(victim(how, {"--set", std::string("code=") + code})),
                fmt::format("called exit({}) in {}", code, plugin));
}

TEST_CASE("a step that hangs is ended at its time limit") {
  const Run run(victim("hangs", {"--set", "step.victim.time_limit=0.5"}));
  check_crashed(run, "was still running after 0.5 s (time_limit) in " + plugin);
  CHECK(run.at("victim").at("seconds").get<double>() < 10);
  CHECK(run.at("victim").at("help") == "if it is not stuck, give it a larger time_limit");
}

TEST_CASE("the end of what a crashed step wrote is in the record and in the report, all of it on standard error") {
  const Run run(victim("prints"));
  const auto& tail = run.at("victim").at("output_tail");
  CHECK(tail.size() <= 20);
  CHECK(tail.back() == "line 19999");
  CHECK(tail.front().get<std::string>().starts_with("line "));
  CHECK(run.result.err.find("first words\nline 0\n") != std::string::npos);
  CHECK(run.result.err.find("line 19999\n") != std::string::npos);
  CHECK(run.result.out.find("| line 19999") != std::string::npos);
}

TEST_CASE("a memory error that is an exception, and every other one, is an ERROR as in the run's own process") {
  const auto how = GENERATE("runs_out_of_memory", "throws", "throws_int");
  const Run isolated(victim(how));
  const Run inside(victim(how, {"--set", "step.victim.isolation=none"}));
  CHECK(isolated.result.code == 4);
  CHECK(inside.result.code == 4);
  for (const auto* field : {"status", "reason", "help", "checks", "outputs"})
    CHECK(isolated.at("victim").at(field) == inside.at("victim").at(field));
  CHECK(isolated.record.at("diagnostics") == inside.record.at("diagnostics"));
}

TEST_CASE("a step in a process of its own passes, skips itself and sets the threads as in the run's own") {
  const auto how = GENERATE("passes", "skips", "sets_threads", "dies_later");
  const std::vector<std::string> more{"--set", "environment.threads=auto"};
  const Run isolated(victim(how, more));
  auto inside_arguments = victim(how == std::string("dies_later") ? "passes" : how, more);
  inside_arguments.insert(inside_arguments.end(), {"--set", "step.victim.isolation=none"});
  const Run inside(inside_arguments);
  INFO(isolated.result.out << isolated.result.err);
  CHECK(isolated.result.code == 0);
  CHECK(isolated.record.at("environment") == inside.record.at("environment"));
  CHECK(isolated.at("victim").at("isolation") == "process");
  for (const auto* id : {"victim", "reader", "other"}) {
    for (const auto* field : {"status", "reason", "summary", "checks", "outputs", "inputs"})
      CHECK(isolated.at(id).at(field) == inside.at(id).at(field));
  }
}

TEST_CASE("what an isolated step prints does not get into a report on standard output") {
  const isolation::Scratch scratch;
  const auto result =
      process::run(isolation::words({"run", "pipelines/victim.toml", "--only", "victim", "--json", "-"}),
                   isolation::options(scratch));
  CHECK(isolation::Json::parse(result.out).at("verdict") == "pass");
  CHECK(result.err.find("first words") != std::string::npos);
}

TEST_CASE("--fail-fast stops after a crash") {
  const Run run(victim("aborts", {"--fail-fast"}));
  CHECK(run.result.code == 5);
  CHECK(run.reason("other") == "--fail-fast after 'victim'");
}

TEST_CASE("a crash is an error in JUnit, told once and with the output's end") {
  const isolation::Scratch scratch;
  const auto result =
      process::run(isolation::words({"run", "pipelines/victim.toml", "--set", "how=aborts", "--junit", "-"}),
                   isolation::options(scratch));
  CHECK(result.code == 5);
  CHECK(result.out.find("errors=\"1\"") != std::string::npos);
  CHECK(result.out.find("first words") != std::string::npos);
}

TEST_CASE("the diagnostics of crashes are pinned") {
  const auto text = [](const isolation::Run& run) {
    const auto start = run.result.err.find("pipelines/victim.toml:");
    return golden::replaced(run.result.err.substr(start), TEST_PLUGINS, "<plugins>");
  };
  golden::check("isolation/golden/S005.txt", text(Run(victim("aborts"))));
  golden::check("isolation/golden/S006.txt", text(Run(victim("hangs", {"--set", "step.victim.time_limit=0.5"}))));
}

TEST_CASE("a step that truncates what it shares with the run does not end the run") {
  const Run run(victim("truncates"));
  CHECK(run.result.signal == 0);
  CHECK(run.at("other").at("status") == "pass");
}

TEST_CASE("where what came out cannot be written the step ends in ERROR, and no plugin is blamed") {
  const Run run(victim("fills_the_disk"));
  CHECK(run.result.code == 4);
  CHECK(run.at("victim").at("status") == "error");
  CHECK(run.reason("victim").starts_with("what came out could not be handed back: a temporary file cannot be written"));
  CHECK(run.result.err.find("error[S007]") != std::string::npos);
}

TEST_CASE("where no temporary file can be made the step ends in ERROR and says why") {
  const isolation::Scratch scratch;
  auto options = isolation::options(scratch);
  options.environment.push_back("TMPDIR=" + scratch.file("nowhere"));
  const auto result = process::run(isolation::words({"run", "pipelines/victim.toml"}), options);
  CHECK(result.code == 4);
  golden::check("isolation/golden/S007.txt", golden::replaced(result.err, scratch.file("nowhere"), "<nowhere>"));
}
