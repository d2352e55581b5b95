// What a run leaves behind when it is interrupted or killed while an isolated step runs.

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include "isolation.hpp"

namespace {

using isolation::Json;

/// A run whose isolated step is at work.
class Working {
 public:
  explicit Working(const std::string& how)
      : process_(isolation::words({"run", "pipelines/victim.toml", "--set", "how=" + how, "--set", "marker=" + marker_,
                                   "--json", record_}),
                 isolation::options(scratch_)) {
    while (isolation::content(marker_).empty()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }

  process::Process& process() { return process_; }
  [[nodiscard]] Json record() const { return Json::parse(isolation::content(record_)); }
  [[nodiscard]] const isolation::Scratch& scratch() const { return scratch_; }
  /// Whether the isolated step's process is gone, at the latest after some seconds.
  [[nodiscard]] bool worker_ends() const {
    const auto worker = static_cast<pid_t>(std::stol(isolation::content(marker_)));
    for (int i = 0; i < 5000; ++i) {
      const auto status = isolation::content("/proc/" + std::to_string(worker) + "/status");
      if (status.empty() || status.find("State:\tZ") != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
  }

 private:
  isolation::Scratch scratch_;
  std::string marker_ = scratch_.file("marker");
  std::string record_ = scratch_.file("record.json");
  process::Process process_;
};

}  // namespace

TEST_CASE("Ctrl-C reaches an isolated step that reports progress") {
  Working working("waits");
  working.process().send(SIGINT);
  const auto result = working.process().wait();
  CHECK(result.code == 6);
  const auto record = working.record();
  CHECK(record.at("verdict") == "interrupted");
  CHECK(isolation::step(record, "victim").at("status") == "skipped");
  CHECK(isolation::step(record, "victim").at("reason") == "interrupted");
  CHECK(working.worker_ends());
}

TEST_CASE("the second Ctrl-C ends the run and the process of its isolated step at once") {
  Working working("hangs");
  working.process().send(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  working.process().send(SIGINT);
  CHECK(working.process().wait().code == 6);
  CHECK(working.worker_ends());
}

TEST_CASE("a run that is killed leaves a readable record, no process, no file, and nothing in the way of the next") {
  Working working("hangs");
  working.process().send(SIGKILL);
  CHECK(working.process().wait().signal == SIGKILL);
  CHECK(working.worker_ends());
  const auto record = working.record();
  CHECK(record.at("verdict") == "incomplete");
  CHECK(record.at("exit_code") == 5);
  CHECK(isolation::step(record, "tensors").at("status") == "done");
  CHECK(isolation::step(record, "victim").at("status").is_null());
  CHECK(std::filesystem::is_empty(working.scratch().temporary()));

  const auto shown = process::run(isolation::words({"report", working.scratch().file("record.json")}),
                                  isolation::options(working.scratch()));
  CHECK(shown.out.find("not finished: 3") != std::string::npos);

  const auto again =
      process::run(isolation::words({"run", "pipelines/victim.toml", "--json", working.scratch().file("record.json")}),
                   isolation::options(working.scratch()));
  CHECK(again.code == 0);
  CHECK(working.record().at("verdict") == "pass");
}
