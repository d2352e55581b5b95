#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "catch.hpp"
#include "report/live.hpp"
#include "report/step_progress.hpp"

using namespace lockstep;
using namespace std::chrono_literals;

namespace {

const StepProgress::Time start{};

/// A file that is no terminal.
class Log {
 public:
  [[nodiscard]] std::FILE* stream() const { return file_.get(); }
  [[nodiscard]] std::string text() const {
    std::rewind(file_.get());
    std::string read(4096, '\0');
    read.resize(std::fread(read.data(), 1, read.size(), file_.get()));
    return read;
  }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{std::tmpfile(), std::fclose};
};

/// What a run of one step, which reports 35 layers, writes about it.
std::string said(const LiveReport::Running& how, const Log& log) {
  RunRecord record;
  record.steps.push_back({.id = "prefill", .uses = "gemma4.prefill", .status = StepStatus::pass});
  const Log report;
  LiveReport live(report.stream(), how, {});
  live.step_started(record, 0);
  for (int layer = 1; layer <= 35; ++layer) live.step_progress(0, layer, 35, "layer");
  live.step_finished(record, 0);
  return log.text();
}

}  // namespace

TEST_CASE("what remains of a round is told from the pace so far") {
  StepProgress progress;
  progress.start();
  CHECK(progress.text().empty());
  progress.report(start, 0, 35, "layer");
  CHECK(progress.text() == "layer 0 of 35");
  progress.report(start + 500ms, 1, 35, "layer");
  CHECK(progress.text() == "layer 1 of 35");  // too early to tell
  progress.report(start + 10s, 5, 35, "layer");
  CHECK(progress.text() == "layer 5 of 35, about 60 s left");
  progress.report(start + 10s, 5, 3500, "layer");
  CHECK(progress.text() == "layer 5 of 3,500, about 117 min left");
  progress.report(start + 70s, 35, 35, "layer");
  CHECK(progress.text() == "layer 35 of 35");
}

TEST_CASE("each round of a step has its own pace, counted from its own first report") {
  StepProgress progress;
  progress.start();
  progress.report(start + 70s, 35, 35, "runtime layer");
  progress.report(start + 110s, 1, 35, "reference layer");
  CHECK(progress.text() == "reference layer 1 of 35");
  progress.report(start + 114s, 3, 35, "reference layer");
  CHECK(progress.text() == "reference layer 3 of 35, about 64 s left");
  progress.report(start + 120s, 1, 35, "reference layer");  // once more
  CHECK(progress.text() == "reference layer 1 of 35");
  progress.start();
  CHECK(progress.text().empty());
}

TEST_CASE("where there is no terminal a line comes now and then, not at every report") {
  const Log often, never;
  const auto text = said({.stream = often.stream(), .between_lines = 0ms}, often);
  CHECK(std::count(text.begin(), text.end(), '\n') == 35);
  CHECK(text.starts_with("prefill: layer 1 of 35 (after 0 s)\n"));
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(said({.stream = never.stream()}, never).empty());
}

TEST_CASE("on a terminal one line is written over and taken back at the end") {
  const Log log;
  const auto text = said({.stream = log.stream(), .is_terminal = true}, log);
  CHECK(text.find("▸ prefill  0.0 s") != std::string::npos);
  CHECK(text.find('\n') == std::string::npos);
  CHECK(text.ends_with("\r\x1b[2K"));
}
