#include "report/terminal.hpp"

#include "catch.hpp"
#include "records.hpp"
#include "report/check_text.hpp"
#include "report/text.hpp"

using namespace lockstep;
using namespace lockstep::test;

namespace {

std::size_t column_of(const std::string& report, const std::string& text) {
  const auto at = report.find(text);
  REQUIRE(at != std::string::npos);
  const auto start = report.rfind('\n', at) + 1;
  return display_width(report.substr(start, at - start));
}

}  // namespace

TEST_CASE("a run with every status looks as the documentation shows it") {
  // Written by hand in the description of the command line, before any code.
  const std::string expected =
      "gemma4-static-runtime · pipelines/gemma4.toml\n"
      "shapes-gemma4 · bfloat16 · 2 threads · LibTorch 2.13.0 AVX2\n"
      "\n"
      "done   checkpoint             0.01 s  286 tensors, 2.49 M parameters\n"
      "done   reference              0.00 s\n"
      "done   runtime                0.00 s  shapes_24x24_64, max_seq 160\n"
      "pass   build_static_inputs    0.02 s  9 checks\n"
      "pass   token_embedding        0.00 s  matches_reference    bits equal (20,480)\n"
      "                                      scale_applied        bits equal (20,480)\n"
      "warn   vision_prefill         0.31 s  matches_eager_model        bits equal (8,192)\n"
      "                                      peir_vs_float        warn  0.031 > 0.020 (inform)\n"
      "FAIL   mm_fusion              0.00 s  matches_reference    FAIL  1,024 of 20,480 differ\n"
      "                                        worst at [0, 65, 3]: expected -0.4131 (reference), actual 0.3984\n"
      "skip   prefill                        not built yet\n"
      "\n"
      "failed: 1 · warned: 1 · passed: 2 · done: 3 · skipped: 1 · 0.71 s · 190 MiB (64 MiB private)\n";
  CHECK(terminal_report(example(), {}) == expected);
}

TEST_CASE("the pieces that a run prints as it goes are the whole report") {
  const auto run = example();
  for (const auto detail : {Detail::quiet, Detail::normal, Detail::verbose}) {
    const TerminalStyle style{true, detail};
    auto pieces = terminal_header(run, style);
    for (std::size_t i = 0; i < run.steps.size(); ++i) pieces += terminal_step(run, i, style);
    CHECK(pieces + terminal_footer(run, style) == terminal_report(run, style));
  }
}

TEST_CASE("quiet shows failures and the last line alone") {
  const auto report = terminal_report(example(), {.detail = Detail::quiet});
  CHECK(report.starts_with("FAIL   mm_fusion"));
  CHECK(report.find("vision_prefill") == std::string::npos);
  CHECK(report.find("failed: 1 · warned: 1") != std::string::npos);
}

TEST_CASE("verbose shows each check, its statistics, where its bound comes from and the parameters") {
  const auto report = terminal_report(example(), {.detail = Detail::verbose});
  for (const auto* text :
       {"rule_0", "rule_8", "max_abs 0.8115", "bound from pipelines/gemma4.toml:42:1", "dtype = \"bfloat16\""})
    CHECK(report.find(text) != std::string::npos);
}

TEST_CASE("columns stay aligned when names are wide") {
  auto run = example();
  run.steps[0].id = "層検査";
  const auto report = terminal_report(run, {});
  CHECK(column_of(report, "286 tensors") == column_of(report, "9 checks"));
}

TEST_CASE("texts of steps cannot drive the terminal") {
  auto run = example();
  run.steps[0].summary = "\x1b[2J\r\x07 \xff \xe2\x80\xae";
  run.steps[7].reason = "first\nsecond";
  const auto report = terminal_report(run, {});
  for (const char c : {'\x1b', '\r', '\x07', '\xff'}) CHECK(report.find(c) == std::string::npos);
  CHECK(report.find("\xe2\x80\xae") == std::string::npos);
  CHECK(column_of(report, "second") == column_of(report, "first"));
}

TEST_CASE("colour changes nothing but colour") {
  auto report = terminal_report(example(), {.colour = true});
  CHECK(report.find("\x1b[1;31mFAIL\x1b[0m") != std::string::npos);
  for (auto at = report.find('\x1b'); at != std::string::npos; at = report.find('\x1b'))
    report.erase(at, report.find('m', at) + 1 - at);
  CHECK(report == terminal_report(example(), {}));
}

TEST_CASE("many failing subjects of one check show the first ones and a count") {
  RunRecord run;
  run.steps = {step("layers", StepStatus::fail, 0)};
  for (int layer = 0; layer < 35; ++layer) {
    auto result = check("output", Metric::bits, Verdict::fail);
    result.subject = "layer " + std::to_string(layer);
    result.compared = 4;
    result.mismatched = 1;
    run.steps[0].checks.push_back(result);
  }
  const auto report = terminal_report(run, {});
  CHECK(report.find("output layer 0") != std::string::npos);
  CHECK(report.find("output layer 3") == std::string::npos);
  CHECK(report.find("32 more") != std::string::npos);
  CHECK(terminal_report(run, {.detail = Detail::verbose}).find("output layer 34") != std::string::npos);
}

TEST_CASE("checks that a failing step did not come to share one line below the cause") {
  RunRecord run;
  run.steps = {step("prefill", StepStatus::fail, 0)};
  auto& checks = run.steps[0].checks;
  auto cause = check("shapes_fit", Metric::expect, Verdict::fail);
  cause.message = "the logits have 63 rows, expected 64";
  checks.push_back(cause);
  for (int i = 0; i < 9; ++i) {
    auto result = check("later_" + std::to_string(i), Metric::bits, Verdict::vacuous);
    result.message = "nothing was compared: the step never performed this check";
    checks.push_back(result);
  }
  const auto report = terminal_report(run, {});
  CHECK(report.find("the logits have 63 rows") < report.find("9 checks not reached"));
  CHECK(report.find("9 checks not reached") != std::string::npos);
  CHECK(report.find("later_") == std::string::npos);
  CHECK(terminal_report(run, {.detail = Detail::verbose}).find("later_8") != std::string::npos);

  SECTION("one alone is one check") {
    checks.resize(2);
    CHECK(terminal_report(run, {}).find("1 check not reached") != std::string::npos);
  }
  SECTION("where nothing else failed each has its line") {
    checks.erase(checks.begin());
    const auto alone = terminal_report(run, {});
    CHECK(alone.find("not reached") == std::string::npos);
    CHECK(alone.find("later_8") != std::string::npos);
  }
  SECTION("what was reached and compared nothing keeps its line") {
    checks.back().message = "nothing was compared: no token is attended";
    const auto other = terminal_report(run, {});
    CHECK(other.find("8 checks not reached") != std::string::npos);
    CHECK(other.find("no token is attended") != std::string::npos);
  }
}

TEST_CASE("a bound and a value that nearly touches it are told apart") {
  CHECK(number_texts(0.0200004, 0.02, 2) == std::pair<std::string, std::string>("0.0200004", "0.0200000"));
  CHECK(number_texts(0.031, 0.02, 2) == std::pair<std::string, std::string>("0.031", "0.020"));
  CHECK(number_text(0.5, 4) == "0.5");
  CHECK(value_texts(2.5, 2.625, 4) == std::pair<std::string, std::string>("2.5", "2.625"));
  CHECK(number_texts(-0.0, 0.0, 4) == std::pair<std::string, std::string>("-0", "0"));
  CHECK(number_texts(std::numeric_limits<double>::quiet_NaN(), 1, 4).first == "nan");
}

TEST_CASE("a bound is shown as it was written, whatever the value") {
  CHECK(number_texts(0, 0.999, 2) == std::pair<std::string, std::string>("0", "0.999"));
  CHECK(number_texts(0.9985, 0.999, 2) == std::pair<std::string, std::string>("0.9985", "0.9990"));
  CHECK(number_texts(3, 120, 2) == std::pair<std::string, std::string>("3.00", "120"));
  CHECK(number_texts(-64, 40, 2) == std::pair<std::string, std::string>("-64", "40"));
  CHECK(number_texts(3, 1e9, 2) == std::pair<std::string, std::string>("3.0", "1.0e+09"));
  CHECK(number_texts(0.5, 1.0 / 3, 2) == std::pair<std::string, std::string>("0.500000", "0.333333"));

  auto cosine = check("logits_cosine", Metric::cosine, Verdict::fail);
  cosine.value = 0;
  cosine.bound.min = 0.999;
  CHECK(outcome_of(cosine) == "0 < 0.999");
  auto close = check("logits", Metric::close, Verdict::fail);
  close.bound = {.rtol = 0.0078125, .atol = 0.0009765625};
  close.compared = 8;
  close.mismatched = 1;
  CHECK(outcome_of(close) == "1 of 8 differ (rtol 0.0078125, atol 0.000976562)");
}

TEST_CASE("counts have separators and memory is in MiB") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(-1234567) == "-1,234,567");
  CHECK(memory_text(std::int64_t{3} << 30) == "3,072 MiB");
  CHECK(memory_text(std::int64_t{3} << 30, std::int64_t{5} << 20) == "3,072 MiB (5 MiB private)");
  CHECK(memory_text(std::int64_t{3} << 30, 0) == "3,072 MiB");
}
