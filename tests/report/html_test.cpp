#include "report/html.hpp"

#include <nlohmann/json.hpp>
#include <regex>

#include "catch.hpp"
#include "records.hpp"
#include "report/check_text.hpp"
#include "report/json.hpp"

using namespace lockstep;
using namespace lockstep::test;

namespace {

/// What stands between `open` and the first `close` after it, as an HTML parser reads it.
std::string between(const std::string& page, const std::string& open, const std::string& close) {
  const auto begin = page.find(open);
  REQUIRE(begin != std::string::npos);
  const auto end = page.find(close, begin + open.size());
  REQUIRE(end != std::string::npos);
  return page.substr(begin + open.size(), end - begin - open.size());
}

std::string data_in(const std::string& page) {
  return between(page, R"(<script type="application/json" id="data">)", "</script>");
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

const std::vector<std::string> hostile{"</script><script>alert(1)</script>",
                                       "<!--<script>",
                                       "{{data}}",
                                       "a \" quote, a \\ and an end\\",
                                       "line\xE2\x80\xA8separator\xE2\x80\xA9",
                                       "</noscript></title></style>",
                                       "\x01\xFF<"};

}  // namespace

TEST_CASE("the page holds the whole record and each check's words") {
  const auto run = example();
  const auto data = nlohmann::json::parse(data_in(to_html(run)));
  CHECK(data["record"] == nlohmann::json::parse(to_json(run)));
  const auto& fusion = data["checks"][6][0];
  CHECK(fusion["outcome"] == "1,024 of 20,480 differ");
  CHECK(fusion["limit"].is_null());
  const auto& peir = data["checks"][5][1];
  CHECK(peir["outcome"] == "0.031 > 0.020 (inform)");
  CHECK(peir["limit"] == 0.02);
  CHECK(peir["at_least"] == false);
}

TEST_CASE("no text of a record ends the place that it is embedded in") {
  for (const auto& text : hostile) {
    auto run = example();
    run.pipeline_name = run.pipeline_file = text;
    run.message = text;
    run.steps[0].id = run.steps[0].reason.emplace(text);
    run.steps[0].status = StepStatus::error;
    run.steps[6].checks[0].name = run.steps[6].checks[0].subject.emplace(text);
    run.steps[6].checks[0].message = text;
    run.diagnostics.push_back({.code = text, .message = text});
    const auto page = to_html(run);
    INFO(text);
    CHECK(data_in(page).find('<') == std::string::npos);
    CHECK(data_in(page).find("\xE2\x80\xA8") == std::string::npos);
    CHECK(nlohmann::json::parse(data_in(page))["record"] == nlohmann::json::parse(to_json(run)));
    CHECK(count(page, "</script>") == 2);
    CHECK(count(page, "<script") == 2);
    CHECK(count(page, "</noscript>") == 1);
    CHECK(count(page, "</title>") == 1);
    CHECK(count(page, "</style>") == 1);
  }
}

TEST_CASE("the page names nothing outside itself and allows nothing to be loaded") {
  auto page = to_html(example());
  CHECK(page.find("default-src 'none'") != std::string::npos);
  const std::regex address(R"((src|href|action|data)="(?!#|data:,)|url\(|@import|fetch\(|XMLHttpRequest|WebSocket)");
  CHECK_FALSE(std::regex_search(page, address));
  CHECK(count(page, "://") == 1);  // the name of SVG's namespace
}

TEST_CASE("without JavaScript the page tells the verdict and what is not fine") {
  const auto text = between(to_html(example()), "<noscript>", "</noscript>");
  CHECK(text.find("gemma4-static-runtime: fail") != std::string::npos);
  CHECK(text.find("<li><b>warn</b> vision_prefill peir_vs_float: 0.031 &gt; 0.020 (inform)</li>") != std::string::npos);
  CHECK(text.find("<li><b>fail</b> mm_fusion matches_reference: 1,024 of 20,480 differ</li>") != std::string::npos);
  CHECK(text.find("<li><b>skipped</b> prefill: not built yet</li>") != std::string::npos);
  CHECK(count(text, "<li>") == 3);
}

TEST_CASE("without JavaScript the page tells what a crashed step wrote last") {
  auto run = example();
  run.steps[7].status = StepStatus::crashed;
  run.steps[7].reason = "was ended by signal 11 (SIGSEGV)";
  run.steps[7].output_tail = {"loading <model>", "  at layer 3"};
  const auto text = between(to_html(run), "<noscript>", "</noscript>");
  CHECK(text.find("<li><b>crashed</b> prefill: was ended by signal 11 (SIGSEGV)\n"
                  "<pre>loading &lt;model&gt;&#10;  at layer 3</pre></li>") != std::string::npos);
}

TEST_CASE("a run of nothing has a page") {
  RunRecord nothing;
  nothing.verdict = RunVerdict::invalid;
  const auto page = to_html(nothing);
  CHECK(nlohmann::json::parse(data_in(page))["checks"].empty());
  CHECK(page.find("<title>invalid: a run · Lockstep</title>") != std::string::npos);
}

TEST_CASE("the page without JavaScript names the rows that did not pass") {
  RunRecord summary;
  summary.rows = {{.row = {"n=1", {}}, .verdict = RunVerdict::pass},
                  {.row = {"n=<2>", {}}, .verdict = RunVerdict::crashed, .message = "was ended by signal 9"}};
  const auto page = to_html(summary);
  CHECK(page.find("<li><b>crashed</b> row n=&lt;2&gt;: was ended by signal 9</li>") != std::string::npos);
  CHECK(page.find("</b> row n=1") == std::string::npos);
}
