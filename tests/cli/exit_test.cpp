// A step that ends the process: no exit code that it chooses may look like a verdict.

#include <csignal>
#include <nlohmann/json.hpp>
#include <tuple>

#include "catch.hpp"
#include "cli.hpp"

namespace {

struct Run {
  cli::Scratch scratch;
  std::string record_file = scratch.file("record.json");
  process::Result result;
  nlohmann::json record;

  explicit Run(const std::string& how)
      : result(cli::lockstep(
            {"run", "pipelines/wait.toml", "--set", "how=" + how, "--set", "marker=", "--json", record_file})),
        record(nlohmann::json::parse(cli::content(record_file))) {}
};

}  // namespace

TEST_CASE("a step that calls exit(0) ends the run with exit code 5, a line that names it and an unfinished record") {
  const Run run("exits");
  CHECK(run.result.code == 5);
  CHECK(run.result.err == "error: step 'wait' ended the process by calling exit\n");
  CHECK(run.result.out.find("pass   before") != std::string::npos);
  CHECK(run.record.at("verdict") == "incomplete");
  CHECK(run.record.at("exit_code") == 5);
  CHECK(run.record.at("steps").at(0).at("status") == "pass");
  CHECK(run.record.at("steps").at(1).at("status").is_null());
}

TEST_CASE(
    "a signal that ends the run is told with the step and its plugin, and the report of the record says where it "
    "ended") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // which tell of SIGSEGV themselves
  const auto [how, number, name] = GENERATE(std::tuple("aborts", SIGABRT, "6 (SIGABRT)"));
#else
  const auto [how, number, name] =
      GENERATE(std::tuple("segfaults", SIGSEGV, "11 (SIGSEGV)"), std::tuple("aborts", SIGABRT, "6 (SIGABRT)"));
#endif
  const Run run(how);
  CHECK(run.result.signal == number);
  CHECK(run.result.err ==
        std::string("error: step 'wait' ended the run: signal ") + name +
            " in " TEST_PLUGINS
            "/toy.moody.so\n  help: with isolation = \"process\" the step crashes alone, and the run goes on\n");
  CHECK(run.record.at("verdict") == "incomplete");
  for (const auto* report : {"--markdown", "--junit", "--github"})
    CHECK(
        cli::lockstep({"report", run.record_file, report, "-"}).out.find("ended before the run did, in step 'wait'") !=
        std::string::npos);
  CHECK(cli::lockstep({"report", run.record_file}).out.find("ended before the run did, in step 'wait'") !=
        std::string::npos);
}

TEST_CASE("a child process of a step may be ended by a signal without a word") {
  const Run run("forks_and_aborts");
  CHECK(run.result.err.empty());
  CHECK(run.record.at("verdict") != "incomplete");
}

TEST_CASE("what a step prints does not get into a report on standard output") {
  const auto result =
      cli::lockstep({"run", "pipelines/wait.toml", "--set", "how=prints", "--set", "marker=", "--json", "-"});
  CHECK(nlohmann::json::parse(result.out).at("steps").at(1).at("id") == "wait");
  CHECK(result.err.find("line 19999\n") != std::string::npos);
}

TEST_CASE("what cannot be written to standard output is an error, unless nobody reads it") {
  for (const auto& words : std::vector<std::vector<std::string>>{{"schema"}, {"completion", "bash"}, {"list"}}) {
    auto options = cli::options();
    options.output_file = "/dev/full";
    CHECK(process::run(cli::words(words), options).code == 4);
    options.output_file.clear();
    options.output_is_closed = true;
    CHECK(process::run(cli::words(words), options).code == 0);
  }
}

TEST_CASE("a child process of a step may call exit") {
  const Run run("forks");
  CHECK(run.result.err.empty());
  CHECK(run.record.at("steps").at(1).at("reason").is_null());  // the child's exit code was 0
  CHECK(run.record.at("verdict") != "incomplete");
}
