#include "pipeline/render_diagnostic.hpp"

#include "catch.hpp"

using namespace lockstep;

namespace {

std::shared_ptr<const SourceText> source(std::string name, std::string text) {
  return std::make_shared<const SourceText>(SourceText{std::move(name), std::move(text)});
}

}  // namespace

TEST_CASE("a diagnostic shows place, code, line, underline, suggestion, notes and help") {
  const auto file = source("p.toml", "schema = 1\n\n  toleranse = 0.5  # bound\n");
  Diagnostic diagnostic;
  diagnostic.code = "P014";
  diagnostic.message = "step 'compare' has no parameter 'toleranse'";
  diagnostic.location = {file, 3, 3, 9};
  diagnostic.did_you_mean = "tolerance";
  diagnostic.notes = {{"the step is here", {file, 1, 1, 6}}, {"without a place"}};
  diagnostic.help = "parameters of this step: left, right";
  CHECK(render(diagnostic, false) ==
        "p.toml:3:3: error[P014]: step 'compare' has no parameter 'toleranse'\n"
        "  3 |   toleranse = 0.5  # bound\n"
        "    |   ^^^^^^^^^ did you mean 'tolerance'?\n"
        "  note: the step is here (p.toml:1:1)\n"
        "  note: without a place\n"
        "  help: parameters of this step: left, right\n");
}

TEST_CASE("a diagnostic without a line has no excerpt, one without a place no place") {
  CHECK(render({.message = "no"}, false) == "error: no\n");
  CHECK(render({.severity = Severity::warning, .code = "C001", .message = "no", .did_you_mean = "yes"}, false) ==
        "warning[C001]: no\n  did you mean 'yes'?\n");
  CHECK(render({.message = "cannot be read", .location = {source("a.toml", ""), 0}}, false) ==
        "a.toml: error: cannot be read\n");
}

TEST_CASE("an argument is shown without line numbers and named by its key") {
  const Location place{source("--set", "max_seq=abc"), 1, 9, 3};
  CHECK(render({.message = "bad"}, false) == "error: bad\n");
  CHECK(render({.message = "bad", .location = place}, false) ==
        "--set: error: bad\n"
        "    | max_seq=abc\n"
        "    |         ^^^\n");
  CHECK(place.to_string() == "--set max_seq");
}

TEST_CASE("the underline counts display columns, not bytes") {
  const std::string line =
      "x = \"\xc3\xa4\xe6\xbc\xa2\t\" # y";  // a umlaut (1 column), a wide ideogram (2), a tab (1 here)
  const auto file = source("p.toml", line);
  CHECK(render({.message = "m", .location = {file, 1, line.find('#') + 1, 1}}, false) ==
        "p.toml:1:14: error: m\n  1 | x = \"\xc3\xa4\xe6\xbc\xa2 \" # y\n    |            ^\n");
}

TEST_CASE("a long line is clipped around the place") {
  const std::string line = "a = \"" + std::string(300, 'x') + "BAD" + std::string(300, 'y') + "\"";
  const auto text = render({.message = "m", .location = {source("p.toml", line), 1, 306, 3}}, false);
  const auto second = text.find('\n') + 1;
  const auto third = text.find('\n', second) + 1;
  const auto excerpt = text.substr(second, third - second);
  const auto marks = text.substr(third);
  CHECK(excerpt.size() < 130);
  const auto at = excerpt.find("BAD");
  REQUIRE(at != std::string::npos);
  CHECK(marks.find("^^^") == at - 2);  // the ellipsis before it has three bytes and one column
}

TEST_CASE("control characters of a source never reach the terminal") {
  const auto file = source("p\x1b[2J.toml", "a = \x1b[31m\n");
  const auto text = render({.message = "found \x1b]0;x\x07", .location = {file, 1, 1, 1}}, false);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\x07') == std::string::npos);
  CHECK(text.find("\\x1b") != std::string::npos);
}

TEST_CASE("colour adds escape codes and changes nothing else") {
  const auto file = source("p.toml", "a = 1\n");
  const Diagnostic diagnostic{.code = "P001", .message = "m", .location = {file, 1, 5, 1}, .help = "h"};
  auto colored = render(diagnostic, true);
  CHECK(colored.find("\x1b[1;31merror[P001]:\x1b[0m") != std::string::npos);
  for (auto at = colored.find('\x1b'); at != std::string::npos; at = colored.find('\x1b')) {
    colored.erase(at, colored.find('m', at) + 1 - at);
  }
  CHECK(colored == render(diagnostic, false));
}

TEST_CASE("errors and warnings are counted in words") {
  CHECK(count_text({}) == "");
  CHECK(count_text({{}}) == "1 error");
  CHECK(count_text({{}, {}, {.severity = Severity::warning}}) == "2 errors, 1 warning");
  CHECK(count_text({{.severity = Severity::warning}, {.severity = Severity::warning}}) == "2 warnings");
}
