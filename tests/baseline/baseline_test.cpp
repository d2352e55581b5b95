#include "baseline/baseline.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <thread>

#include "catch.hpp"
#include "golden.hpp"
#include "report/records.hpp"
#include "report/terminal.hpp"
#include "safetensors/files.hpp"

using namespace lockstep;
using namespace lockstep::test;

namespace {

constexpr const char* today = "2026-11-30";

/// A run that passed, with a check of each kind.
RunRecord passing() {
  auto run = example();
  run.verdict = RunVerdict::pass;
  run.exit_code = 0;
  run.environment.emplace_back("cpu", "a");
  auto& fusion = run.steps[6];
  fusion.status = StepStatus::pass;
  auto close = check("logits", Metric::close, Verdict::pass);
  close.value = 0.3;
  close.ladder = "close";
  for (const int layer : {10, 2}) {
    close.subject = "layer " + std::to_string(layer);
    fusion.checks.push_back(close);
  }
  auto cosine = check("direction", Metric::cosine, Verdict::pass);
  cosine.value = 0.99;
  fusion.checks.push_back(cosine);
  fusion.checks.erase(fusion.checks.begin());
  return run;
}

std::string content(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// A baseline of `run`, through its file.
Baseline taken_of(RunRecord run) {
  const TemporaryFolder folder;
  update_baseline(run, folder / "base.toml", std::nullopt, today);
  REQUIRE(run.exit_code == 0);
  return *read_baseline_file(folder / "base.toml");
}

BaselineRecord judged(RunRecord run, const Baseline& baseline) {
  judge_by_baseline(run, baseline, "base.toml");
  CHECK((run.exit_code == 1) == !run.baseline->worse.empty());
  return *run.baseline;
}

/// What is worse in `run`, the message of the only finding; "" for none.
std::string worse(const RunRecord& run, const Baseline& baseline) {
  const auto result = judged(run, baseline);
  if (result.worse.empty()) return {};
  REQUIRE(result.worse.size() == 1);
  return result.worse.front().message;
}

CheckResult& logits(RunRecord& run) { return run.steps[6].checks[0]; }

/// Why a baseline's text is not read; none if it is.
std::optional<Diagnostic> refusal_of(const std::string& toml) {
  try {
    static_cast<void>(read_baseline(toml, "base.toml"));
    return std::nullopt;
  } catch (const Error& error) {
    CHECK(error.diagnostic().code == "F004");
    return error.diagnostic();
  }
}

}  // namespace

TEST_CASE("the file of a baseline reads as approved and is read again as it is") {
  const auto baseline = taken_of(passing());
  const auto text = to_toml(baseline);
  golden::check("baseline/golden/baseline.toml", text);
  CHECK(to_toml(read_baseline(text, "base.toml")) == text);
}

TEST_CASE("a run is as good as the baseline that was taken of it") {
  const auto result = judged(passing(), taken_of(passing()));
  CHECK(result.compared == 16);
  CHECK(result.worse.empty());
  CHECK(result.better.empty());
  CHECK(result.unknown.empty());
}

TEST_CASE("each way of becoming worse fails the run") {
  const auto baseline = taken_of(passing());
  auto run = passing();
  SECTION("a value beyond the margin: 0.3 grows by a tenth and by a hundredth of the tolerance") {
    logits(run).value = 0.3399;
    CHECK(worse(run, baseline).empty());
    logits(run).value = 0.3401;
    CHECK(worse(run, baseline) == "close 0.3401, was 0.3, at most 0.34");
  }
  SECTION("a value that is no number") {
    logits(run).value = std::nan("");
    CHECK(worse(run, baseline) == "close nan, was 0.3, at most 0.34");
  }
  SECTION("a value that is not there") {
    logits(run).value.reset();
    CHECK(worse(run, baseline) == "close is undefined, was 0.3");
  }
  SECTION("a share, whose distance from 1 grows by more than a tenth") {
    run.steps[6].checks[2].value = 0.98901;
    CHECK(worse(run, baseline).empty());
    run.steps[6].checks[2].value = 0.98899;
    CHECK(worse(run, baseline) == "cosine 0.98899, was 0.99, at least 0.988999");
  }
  SECTION("a level of the ladder, though the value holds") {
    run.steps[4].checks[0].ladder = "close";
    CHECK(worse(run, baseline) == "close 0 (close), was 0 (bits_equal)");
    run.steps[4].checks[0].value.reset();
    CHECK(worse(run, baseline) == "close, was bits_equal");
  }
  SECTION("a check that became vacuous") {
    logits(run).verdict = Verdict::vacuous;
    logits(run).on_vacuous = OnVacuous::allow;
    CHECK(worse(run, baseline) == "vacuous, was pass");
  }
  SECTION("a check that only informs now") {
    logits(run).level = Level::inform;
    CHECK(worse(run, baseline) == "its level is inform, was require");
  }
  SECTION("a check that is measured in another way") {
    logits(run).metric = Metric::max_abs;
    CHECK(worse(run, baseline) == "measured by max_abs, was close");
  }
  SECTION("a check that is gone") {
    run.steps[6].checks.erase(run.steps[6].checks.begin());
    CHECK(worse(run, baseline) == "the check is gone");
  }
  SECTION("a step that is gone") {
    run.steps.erase(run.steps.begin() + 4);
    CHECK(judged(run, baseline).worse.size() == 2);
  }
  SECTION("another set-up, about which the baseline says nothing") {
    run.environment[5].second = "float32";
    REQUIRE(run.environment[5].first == "dtype");
    CHECK(worse(run, baseline) ==
          "the baseline has nothing about dtype \"float32\", checkpoint \"shapes-gemma4\"; "
          "--update-baseline adds it");
  }
}

TEST_CASE("sqnr may lose as many decibels as a tenth more noise amplitude costs") {
  BaselineEntry entry;
  entry.metric = Metric::sqnr;
  entry.value = 40;
  // 20 log10(1.1) = 0.827854 dB
  CHECK(limit_of(entry, {}) == Approx(39.172146).epsilon(1e-6));
  entry.value = std::numeric_limits<double>::infinity();
  CHECK(limit_of(entry, {}) == std::numeric_limits<double>::infinity());
}

TEST_CASE("an entry may have a margin of its own") {
  auto baseline = taken_of(passing());
  auto run = passing();
  logits(run).value = 0.5;
  CHECK_FALSE(worse(run, baseline).empty());
  for (auto& entry : baseline.sections[0].checks) entry.relative = 1.0;
  CHECK(worse(run, baseline).empty());
}

TEST_CASE("steps that were not selected, and what an error kept from running, are not held against a run") {
  const auto baseline = taken_of(passing());
  auto run = passing();
  run.steps[6].scored = false;
  CHECK(worse(run, baseline).empty());
  run = passing();
  run.steps[6].checks.clear();
  run.steps[6].status = StepStatus::error;
  run.verdict = RunVerdict::error;
  run.exit_code = 4;
  judge_by_baseline(run, baseline, "base.toml");
  CHECK(run.baseline->worse.empty());
  CHECK(run.exit_code == 4);
}

TEST_CASE("on another machine verdicts are compared and numbers are not") {
  const auto baseline = taken_of(passing());
  auto run = passing();
  run.environment.back().second = "b";
  logits(run).value = 0.9;
  run.steps[4].checks[0].ladder = "close";
  auto result = judged(run, baseline);
  CHECK(result.worse.empty());
  CHECK(result.notes == std::vector<std::string>{"the baseline is of another machine (cpu differ): verdicts are "
                                                 "compared, values and ladder levels are not"});
  logits(run).level = Level::inform;
  CHECK(judged(run, baseline).worse.size() == 1);
}

TEST_CASE("a new check and a better value are told and fail nothing") {
  const auto baseline = taken_of(passing());
  auto run = passing();
  logits(run).value = 0.1;
  run.steps[6].checks.push_back(bits_equal("new_check", 3));
  const auto result = judged(run, baseline);
  CHECK(result.worse.empty());
  REQUIRE(result.better.size() == 1);
  CHECK(result.better[0].message == "close 0.1, was 0.3");
  REQUIRE(result.unknown.size() == 1);
  CHECK(result.unknown[0].check == "new_check");
}

TEST_CASE("an update tightens, adds, and keeps what is within the margin") {
  const TemporaryFolder folder;
  const auto file = folder / "base.toml";
  auto run = passing();
  update_baseline(run, file, std::nullopt, today);
  run = passing();
  logits(run).value = 0.1;
  run.steps[6].checks[1].value = 0.31;  // within the margin: small steps must not add up
  run.steps[6].checks.push_back(bits_equal("new_check", 3));
  update_baseline(run, file, std::nullopt, today);
  CHECK(run.exit_code == 0);
  CHECK(run.baseline->update == "the baseline was updated: 1 added, 1 tightened, 0 loosened");
  const auto text = content(file);
  CHECK(text.find("subject = \"layer 10\", metric = \"close\", value = 0.1") != std::string::npos);
  CHECK(text.find("subject = \"layer 2\", metric = \"close\", value = 0.3,") != std::string::npos);
  CHECK(text.find("new_check") != std::string::npos);
  update_baseline(run, file, std::nullopt, today);
  CHECK(run.baseline->update == "the baseline is up to date");
  CHECK(content(file) == text);
}

TEST_CASE("loosening needs a reason, which is kept with the date, the old and the new value") {
  const TemporaryFolder folder;
  const auto file = folder / "base.toml";
  auto run = passing();
  update_baseline(run, file, std::nullopt, today);
  const auto before = content(file);
  const auto looser = [] {
    auto worse = passing();
    logits(worse).value = 0.6;
    worse.steps[4].checks.pop_back();
    return worse;
  };
  run = looser();
  update_baseline(run, file, std::nullopt, today);
  CHECK(run.exit_code == 1);
  CHECK(run.verdict == RunVerdict::fail);
  CHECK(run.baseline->worse.size() == 2);
  CHECK(content(file) == before);
  golden::check("baseline/golden/refused.txt", golden::replaced(terminal_footer(run, {}), file.string(), "base.toml"));

  run = looser();
  update_baseline(run, file, "a faster kernel \"with\" less precision", today);
  CHECK(run.exit_code == 0);
  const auto baseline = *read_baseline_file(file);
  REQUIRE(baseline.history.size() == 1);
  CHECK(baseline.history[0].date == today);
  CHECK(baseline.history[0].reason == "a faster kernel \"with\" less precision");
  CHECK(baseline.history[0].changes ==
        std::vector<std::string>{"mm_fusion logits layer 10: close 0.6, was 0.3, at most 0.34",
                                 "token_embedding scale_applied: the check is gone"});
  CHECK(worse(looser(), baseline).empty());
}

TEST_CASE("what loosens a row of a matrix is kept with the row and both values") {
  const TemporaryFolder folder;
  const auto file = folder / "base.toml";
  auto run = passing();
  run.row = MatrixRow{"dtype=float32,length=16", {}};
  update_baseline(run, file, std::nullopt, today);
  run = passing();
  run.row = MatrixRow{"dtype=float32,length=16", {}};
  logits(run).value = 0.9;
  logits(run).ladder = "far";
  update_baseline(run, file, "a faster kernel", today);
  CHECK(
      read_baseline_file(file)->history.at(0).changes ==
      std::vector<std::string>{"dtype=float32,length=16 mm_fusion logits layer 10: close 0.9 (far), was 0.3 (close)"});
}

TEST_CASE("a run that did not pass updates nothing") {
  const TemporaryFolder folder;
  auto run = example();
  update_baseline(run, folder / "base.toml", "because", today);
  CHECK_FALSE(std::filesystem::exists(folder / "base.toml"));
  CHECK(run.exit_code == 1);
}

TEST_CASE("each machine and each set-up has entries of its own") {
  const TemporaryFolder folder;
  const auto file = folder / "base.toml";
  auto run = passing();
  update_baseline(run, file, std::nullopt, today);
  auto other = passing();
  other.environment.back().second = "b";
  logits(other).value = 0.9;
  update_baseline(other, file, std::nullopt, today);
  CHECK(other.exit_code == 0);
  const auto baseline = *read_baseline_file(file);
  CHECK(baseline.sections.size() == 2);
  auto again = passing();
  logits(again).value = 0.9;
  CHECK_FALSE(worse(again, baseline).empty());
  again.environment.back().second = "b";
  CHECK(worse(again, baseline).empty());
}

TEST_CASE("updates at the same time lose nothing of one another") {
  const TemporaryFolder folder;
  const auto file = folder / "base.toml";
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&file, i] {
      auto run = passing();
      run.environment.back().second = "machine " + std::to_string(i);
      update_baseline(run, file, std::nullopt, today);
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(read_baseline_file(file)->sections.size() == 8);
}

TEST_CASE("what is wrong with the file of a baseline is said with its place") {
  const auto text = to_toml(taken_of(passing()));
  const auto problem = [](const std::string& toml) -> std::string {
    const auto refused = refusal_of(toml);
    return refused ? refused->location.to_string() + ": " + refused->message : "read";
  };
  CHECK(problem("") == "base.toml:1:1: 'schema' is missing, expected 1");
  CHECK(problem("<<<<<<< HEAD\n" + text).starts_with("base.toml:1:"));
  CHECK(problem(golden::replaced(text, "schema = 1", "schema = 2")) == "base.toml:3:10: schema is 2, expected 1");
  CHECK(problem(golden::replaced(text, "relative = 0.1", "relative = -0.1"))
            .find("expected a finite number that is not negative") != std::string::npos);
  CHECK(problem(golden::replaced(text, "metric = \"close\"", "metric = \"near\"")).find("'near' is no metric") !=
        std::string::npos);
  CHECK(problem(golden::replaced(text, "value = ", "valeu = ")).find("unknown key 'valeu'") != std::string::npos);
}

TEST_CASE("a file of a baseline that an edit has made compare less is not read") {
  const auto text = to_toml(taken_of(passing()));
  const auto problem = [](const std::string& toml) -> std::string {
    const auto refused = refusal_of(toml);
    return refused ? refused->message : "read";
  };
  CHECK(problem(text) == "read");
  CHECK(problem(golden::replaced(text, "ladder = \"close\"", "ladder = \"xyz\"")) == "'xyz' is no ladder level");
  CHECK(problem(golden::replaced(text, " threads = ", " thread = ")) ==
        "'thread' is no field that a section is chosen by");
  CHECK(problem(golden::replaced(text, "pcc = ", "cloze = ")) == "'cloze' is no metric");
  CHECK(problem(golden::replaced(text, "relative = 0.1", "relative = inf"))
            .starts_with("'relative' is inf, expected a finite number"));
  const auto section = text.find("[[baseline]]");
  CHECK(problem(text + text.substr(section)) == "there is a section of this environment already");
  const auto checks = text.find("checks = [");
  CHECK(problem(text.substr(0, checks) + "checks = []\n") == "'checks' is empty, so nothing would be compared");
}
