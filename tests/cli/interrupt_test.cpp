#include <nlohmann/json.hpp>
#include <thread>

#include "cli.hpp"

namespace {

/// A run whose second step has begun.
class Waiting {
 public:
  explicit Waiting(const std::string& how)
      : process_(cli::words({"run", "pipelines/wait.toml", "--set", "how=" + how, "--set", "marker=" + marker_,
                             "--json", record_}),
                 cli::options()) {
    while (!std::filesystem::exists(marker_)) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }

  process::Process& process() { return process_; }
  nlohmann::json record() const { return nlohmann::json::parse(cli::content(record_)); }

 private:
  cli::Scratch scratch_;
  std::string marker_ = scratch_.file("marker");
  std::string record_ = scratch_.file("record.json");
  process::Process process_;
};

}  // namespace

TEST_CASE("the first Ctrl-C ends a step that reports progress, with a record and exit code 6") {
  Waiting waiting("waits");
  waiting.process().send(SIGINT);
  const auto result = waiting.process().wait();
  CHECK(result.code == 6);
  CHECK(result.out.find("interrupted") != std::string::npos);
  const auto record = waiting.record();
  CHECK(record.at("verdict") == "interrupted");
  CHECK(record.at("exit_code") == 6);
  CHECK(record.at("steps").at(0).at("status") == "pass");
  CHECK(record.at("steps").at(1).at("status") == "skipped");
  CHECK(record.at("steps").at(1).at("reason") == "interrupted");
}

TEST_CASE("the second Ctrl-C ends a step that does not listen at once, with exit code 6") {
  Waiting waiting("sleeps");
  waiting.process().send(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  waiting.process().send(SIGINT);
  const auto result = waiting.process().wait();
  CHECK(result.code == 6);
  CHECK(waiting.record().at("verdict") == "incomplete");
}
