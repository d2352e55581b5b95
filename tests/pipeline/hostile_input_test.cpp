#include "catch.hpp"
#include "workspace.hpp"

using namespace lockstep;
using namespace lockstep::test;

namespace {

std::string repeated(const std::string& text, std::size_t times) {
  std::string result;
  result.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

}  // namespace

TEST_CASE("deep nesting is refused before it can exhaust the stack") {
  Workspace workspace;
  CHECK(findings(repeated("a.", 3'000'000) + "a = 1\n") == Strings{"P005 1:32"});
  CHECK(findings("[" + repeated("a.", 3'000'000) + "a]\n") == Strings{"P005 1:33"});
  CHECK(findings("a = " + repeated("[", 1'000'000)) == Strings{"P005 1:21"});
  CHECK(findings("a = " + repeated("{a=", 1'000'000)) == Strings{"P005 1:53"});
  CHECK(
      findings("schema = 1\n", {.sets = {"x=" + repeated("[", 1'000'000), repeated("a.", 1'000'000) + "b=1"}}).size() ==
      2);
}

TEST_CASE("dots and brackets inside texts and comments do not count as nesting") {
  Workspace workspace;
  const auto dots = repeated(".", 40) + repeated("[", 40);
  const std::string steps = "[[step]]\nid = \"a\"\nuses = \"test.source\"\n";
  CHECK(findings("schema = 1 # " + dots + "\nname = \"\\\"" + dots + "\"\n" + steps).empty());
  CHECK(findings("schema = 1\nname = '" + dots + "'\ndescription = \"\"\"\n" + dots + "\"\"\"\"\n" + steps).empty());
  CHECK(findings("schema = 1\nname = '''\n" + dots + "'''''\nvars.x = [" + repeated("1.5, ", 100) + "]\n" + steps)
            .empty());
}

TEST_CASE("variables cannot grow without bound") {
  Workspace workspace;
  std::string texts = "schema = 1\n[vars]\nv0 = \"0123456789\"\n";
  std::string lists = "schema = 1\n[vars]\nv0 = [1]\n";
  std::string chain = "schema = 1\n[vars]\nv0 = 1\n";
  for (int i = 1; i < 60; ++i) {
    const auto before = "\"${v" + std::to_string(i - 1) + "}";
    texts += "v" + std::to_string(i) + " = " + before + before.substr(1) + "\"\n";
    lists += "v" + std::to_string(i) + " = [" + before + "\", " + before + "\"]\n";
  }
  for (int i = 1; i < 100'000; ++i) chain += "v" + std::to_string(i) + " = \"${v" + std::to_string(i - 1) + "}\"\n";
  for (const auto& toml : {texts, lists, chain}) {
    const auto result = plan(toml);
    REQUIRE_FALSE(result.ok());
    CHECK(result.diagnostics.front().code == "P028");
  }
}

TEST_CASE("a file with thousands of mistakes is diagnosed in bounded time and space") {
  Workspace workspace;
  std::string toml = "schema = 1\n";
  for (int i = 0; i < 100'000; ++i) toml += "unknown" + std::to_string(i) + " = 1\n";
  for (int i = 0; i < 50'000; ++i)
    toml += "[[step]]\nid = \"s" + std::to_string(i) + "\"\nuses = \"test.reader\"\ninputs.batch = \"x.y\"\n";
  const auto result = plan(toml);
  CHECK(result.diagnostics.size() == 1000);
  REQUIRE_FALSE(result.diagnostics.back().notes.empty());
  CHECK(result.diagnostics.back().notes.back().message == "149000 more errors are not shown");
}

TEST_CASE("a million values on one line, and as many references, are read in bounded time") {
  Workspace workspace;
  std::string toml = "schema = 1\nvars.a = \"x\"\nvars.t = { ";
  for (int i = 0; i < 200'000; ++i) toml += "k" + std::to_string((i * 7919) % 200'000) + " = [[1]], ";
  toml += "z = 1 }\nvars.u = [" + repeated("\"${a}\", ", 200'000) + "\"\xc3\xa4\", \"${b}\"]\n";
  const auto column = std::to_string(10 + 200'000 * 8 + 8);
  CHECK(findings(toml + "[[step]]\nid = \"a\"\nuses = \"test.source\"\n") == Strings{"P022 4:" + column});
}

TEST_CASE("a huge text is one value") {
  Workspace workspace;
  const std::string text(9'000'000, 'x');
  const auto result =
      plan("schema = 1\n[[step]]\nid = \"p\"\nuses = \"test.params\"\nwith = { dtype = \"" + text + "\" }\n");
  CHECK(findings(result) == Strings{"P018 5:18"});
  CHECK(rendered(result).size() < 2000);
}

TEST_CASE("files above 10 MB and endless ones are refused") {
  Workspace workspace;
  CHECK(findings(std::string(10'000'001, '\n')) == Strings{"P003 pipeline.toml"});
  CHECK(findings("schema = 1\n" + std::string(9'999'000, '\n')) == Strings{"P009 pipeline.toml"});
  FakeCatalog catalog;
  CHECK(findings(make_plan({.file = "/dev/zero", .configs = {}, .sets = {}, .skips = {}}, catalog)) ==
        Strings{"P003 /dev/zero"});
}

TEST_CASE("bytes that are not UTF-8 are found in files and arguments") {
  Workspace workspace;
  const std::string good = "schema = 1\n[vars]\nx = \"\"\n[[step]]\nid = \"a\"\nuses = \"test.source\"\n";
  CHECK(findings(good + "# \xff\n") == Strings{"P002 7:3"});
  CHECK(findings("schema = 1 # \xed\xa0\x80\n") == Strings{"P002 1:14"});  // a surrogate
  CHECK(findings("schema = 1 # \xc0\xaf\n") == Strings{"P002 1:14"});      // an overlong form
  CHECK(findings(good, {.sets = {"x=\xff"}}) == Strings{"P002 --set x"});
  CHECK(findings("\xef\xbb\xbf" + good).empty());
}

TEST_CASE("columns count bytes, also behind characters of several bytes and a byte-order mark") {
  Workspace workspace;
  const std::string steps = "[[step]]\nid = \"a\"\nuses = \"test.source\"\n";
  CHECK(findings("schema = 1\nvars = { a = \"\xc3\xa4\xf0\x9f\x98\x80\", required = 3 }\n" + steps) ==
        Strings{"P027 2:35"});
  CHECK(findings("\xef\xbb\xbfschema = 2\n" + steps) == Strings{"P006 1:13"});
  CHECK(findings("schema = 1\r\n\r\nnaem = 1\r\n" + steps) == Strings{"P007 3:1"});
}

TEST_CASE("nonsense never throws") {
  Workspace workspace;
  for (const auto* toml :
       {"", "\n", "=", "[", "[[", "[[]]", "\"", "'''", "a=", "\\", "[step]\n[[step]]", "step.a.b.c = 1", "[[step.a]]",
        "step = [[]]", "vars = { required = [[]] }", "schema = 1\n[[step]]\nid = 1\nuses = 2\nwith = 3", "schema = {}",
        "\x7f", "a = \"\\ud800\""}) {
    INFO(toml);
    for (const auto* overlay : {"", toml}) {
      const auto result =
          plan(toml, {.overlays = {overlay}, .sets = {toml, std::string("x=") + toml}, .skips = {toml}});
      CHECK_FALSE(result.ok());
      CHECK(rendered(result) != "");
    }
  }
}
