// The rows of [matrix]: which there are, what they change, which are chosen.

#include <algorithm>
#include <set>

#include "catch.hpp"
#include "pipeline/matrix.hpp"
#include "workspace.hpp"

using namespace lockstep;
using namespace lockstep::test;

namespace {

const std::string head = "schema = 1\nname = \"m\"\n";
const std::string step = "[[step]]\nid = \"a\"\nuses = \"test.source\"\n";

Strings names(const PlanResult& result) {
  Strings all;
  for (const auto& row : result.rows) all.push_back(row.name);
  return all;
}

Strings names(const std::string& matrix, const Arguments& arguments = {}) {
  const Workspace workspace;
  const auto result = plan(head + matrix + step, arguments);
  CHECK(rendered(result).empty());
  return names(result);
}

const std::string two_axes = "[matrix]\ndtype = [\"bf\", \"fp\"]\nn = [1, 2]\n";

}  // namespace

TEST_CASE("the rows are the product of the axes in the order of the file, the last axis fastest") {
  CHECK(names(two_axes) == Strings{"dtype=bf,n=1", "dtype=bf,n=2", "dtype=fp,n=1", "dtype=fp,n=2"});
  CHECK(names("[matrix]\nz = [1]\na = [true, false]\n") == Strings{"z=1,a=true", "z=1,a=false"});
  CHECK(names("[matrix]\nn = 3\n") == Strings{"n=3"});
}

TEST_CASE("exclude takes out every row that has its values, include adds rows behind") {
  CHECK(names(two_axes + "exclude = [{ dtype = \"fp\", n = 1 }]\ninclude = [{ dtype = \"fp\", n = 9 }]\n") ==
        Strings{"dtype=bf,n=1", "dtype=bf,n=2", "dtype=fp,n=2", "dtype=fp,n=9"});
  CHECK(names(two_axes + "exclude = [{ n = 1 }]\n") == Strings{"dtype=bf,n=2", "dtype=fp,n=2"});
  CHECK(names("[matrix]\ninclude = [{ a = 1, b = 2 }, { a = 3, b = 4 }]\n") == Strings{"a=1,b=2", "a=3,b=4"});
}

TEST_CASE("the name of a row is fit for a file's name, and two rows never share one") {
  const auto all = names("[matrix]\npath = [\"a/b\", \"a b\", \"a%2Fb\", \"..\", \"\", \"ü\"]\n");
  CHECK(all[0] == "path=a%2Fb");
  CHECK(all[2] == "path=a%252Fb");
  CHECK(all[5] == "path=ü");
  CHECK(std::set<std::string>(all.begin(), all.end()).size() == all.size());
  const std::string same(300, 'x');
  const auto long_names = names("[matrix]\nt = [\"" + same + "1\", \"" + same + "2\"]\n");
  CHECK(long_names[0] != long_names[1]);
  for (const auto& name : long_names) CHECK(name.size() <= 200);
}

TEST_CASE("a value keeps its type where it stands alone, and is text within a text") {
  const Workspace workspace;
  const auto result =
      plan(head +
               "[vars]\nfrom_row = \"${matrix.n}\"\n[environment]\nseed = \"${matrix.n}\"\n[matrix]\nn = [3]\n"
               "on = [true]\n[[step]]\nid = \"a_${matrix.n}\"\nuses = \"test.${matrix.kind}\"\n"
               "with = { count = \"${from_row}\", flag = \"${matrix.on}\", text = \"n is ${matrix.n}\" }\n",
           {.sets = {"matrix.kind=params"}});
  CHECK(rendered(result).empty());
  REQUIRE(result.plan.steps.size() == 1);
  CHECK(result.plan.steps[0].id == "a_3");
  CHECK(parameter(result, "a_3", "count").value == Value(std::int64_t{3}));
  CHECK(parameter(result, "a_3", "flag").value == Value(true));
  CHECK(parameter(result, "a_3", "text").value == Value(std::string("n is 3")));
  CHECK(result.plan.environment.seed == 3);
}

TEST_CASE("--row chooses by the whole name or by any part of it") {
  CHECK(names(two_axes, {.rows = {"dtype=fp,n=1"}}) == Strings{"dtype=fp,n=1"});
  CHECK(names(two_axes, {.rows = {"n=2"}}) == Strings{"dtype=bf,n=2", "dtype=fp,n=2"});
  CHECK(names(two_axes, {.rows = {"n=2", "dtype=bf"}}) == Strings{"dtype=bf,n=1", "dtype=bf,n=2", "dtype=fp,n=2"});
  CHECK(names(two_axes, {.rows = {"n=2,dtype=bf"}}) == Strings{"dtype=bf,n=2"});
}

TEST_CASE("a row's full name means that row, also where another row has it as a value") {
  CHECK(names("[matrix]\nv = [\"/\", \"%2F\"]\n") == Strings{"v=%2F", "v=%252F"});
  CHECK(names("[matrix]\nv = [\"/\", \"%2F\"]\n", {.rows = {"v=%2F"}}) == Strings{"v=%2F"});
  CHECK(names("[matrix]\nv = [\"%2F\", \"/\"]\n", {.rows = {"v=%2F"}}) == Strings{"v=%2F"});
}

TEST_CASE("shards divide the rows: each row is in exactly one, the same on every machine") {
  const std::string matrix = "[matrix]\na = [1, 2, 3, 4, 5]\nb = [1, 2, 3]\n";
  const auto all = names(matrix);
  REQUIRE(all.size() == 15);
  for (const std::size_t shards : {1U, 2U, 4U, 15U, 20U}) {
    std::multiset<std::string> seen;
    for (std::size_t i = 1; i <= shards; ++i) {
      const auto part = names(matrix, {.shard = std::to_string(i) + "/" + std::to_string(shards)});
      for (std::size_t k = 0; k < part.size(); ++k) CHECK(part[k] == all.at(k * shards + i - 1));
      seen.insert(part.begin(), part.end());
    }
    CHECK(seen == std::multiset<std::string>(all.begin(), all.end()));
  }
  CHECK(names(two_axes, {.rows = {"dtype=fp"}, .shard = "2/2"}) == Strings{"dtype=fp,n=2"});
}

TEST_CASE("an overlay and --set replace an axis whole") {
  CHECK(names(two_axes, {.sets = {"matrix.n=[7]"}}) == Strings{"dtype=bf,n=7", "dtype=fp,n=7"});
  CHECK(names(two_axes, {.sets = {"matrix.dtype=fp"}}) == Strings{"dtype=fp,n=1", "dtype=fp,n=2"});
  CHECK(names(two_axes, {.overlays = {"[matrix]\nn = [5, 6]\n"}, .rows = {"dtype=bf"}}) ==
        Strings{"dtype=bf,n=5", "dtype=bf,n=6"});
}

TEST_CASE("a mistake in one row is located and names the row, one in every row is told once") {
  const Workspace workspace;
  // Only the combination is wrong, so no value alone is to blame.
  const auto some = plan(head +
                         "[matrix]\nlow = [1, 7]\nhigh = [5, 8]\n[[step]]\nid = \"a\"\nuses = \"test.rules\"\n"
                         "with = { low = \"${matrix.low}\", high = \"${matrix.high}\" }\n");
  REQUIRE(some.diagnostics.size() == 1);
  CHECK_THAT(rendered(some), contains_text("in matrix row low=7,high=5"));
  const auto every = plan(head + two_axes + "[[step]]\nid = \"a\"\nuses = \"test.sauce\"\n");
  CHECK(every.diagnostics.size() == 1);
}

TEST_CASE("every mistake in a matrix is found at its own place") {
  const auto found = [](const std::string& matrix, const Arguments& arguments = {}) {
    const Workspace workspace;
    return findings(head + matrix + step, arguments);
  };
  CHECK(found("matrix = 3\n") == Strings{"P008 3:10"});
  CHECK(found("[matrix]\na = [[1]]\nb = 2026-01-01\n\"a b\" = 1\n") == Strings{"P070 4:6", "P070 5:5", "P070 6:1"});
  CHECK(found("[matrix]\na = [\"${x}\", 1]\ninclude = [{}, 3]\n") == Strings{"P070 4:6", "P070 5:12", "P070 5:16"});
  CHECK(found(two_axes + "exclude = [{ m = 1 }]\ninclude = [{ n = 3, m = 1 }]\n") == Strings{"P071 6:14", "P071 7:21"});
  CHECK(found(two_axes + "include = [{ n = 3 }, { dtype = \"bf\", n = 1 }]\n") == Strings{"P073 6:12"});
  CHECK(found("[matrix]\ninclude = [{ n = 3 }, { n = 3 }]\n") == Strings{"P072 4:23"});
  CHECK(found("[matrix]\ninclude = [{ n = 3 }]\nexclude = [{ n = 3 }]\n") == Strings{"P074 5:1"});
  CHECK(found("[matrix]\ninclude = [{ n = 3 }]\nexclude = []\n").empty());
  CHECK(found(two_axes, {.sets = {"matrix.o=[1]"}}) == Strings{"P071 --set matrix.o"});
  CHECK(found(two_axes, {.rows = {"n=1,"}}) == Strings{"P077 --row n"});
  CHECK(found(two_axes, {.rows = {",n=1"}}) == Strings{"P077 --row ,n"});
  CHECK(found(two_axes, {.rows = {"n=1,,dtype=bf"}}) == Strings{"P077 --row n"});
  CHECK(found(two_axes, {.rows = {"n=3"}, .shard = "0/2"}) == Strings{"P078 --shard 0/2", "P077 --row n"});
}

TEST_CASE("exactly ten thousand rows are allowed") {
  const auto axis = [](const std::string& name, int count) {
    std::string text = name + " = [0";
    for (int i = 1; i < count; ++i) text += ", " + std::to_string(i);
    return text + "]\n";
  };
  const auto found = [](const std::string& matrix) {
    const Workspace workspace;
    return findings(head + matrix + step);
  };
  const auto most = "[matrix]\n" + axis("a", 100) + axis("b", 100);
  CHECK(names(most).size() == 10'000);
  CHECK(found(most + "include = [{ a = 100, b = 0 }]\n") == Strings{"P076 3:2"});
  CHECK(found("[matrix]\n" + axis("a", 100) + axis("b", 101)) == Strings{"P076 3:2"});
  // 2 to the 64th combinations: the count itself must not overflow.
  std::string many = "[matrix]\n";
  for (int i = 0; i < 64; ++i) many += axis("x" + std::to_string(i), 2);
  CHECK(found(many) == Strings{"P076 3:2"});
}

TEST_CASE("a shard or a row that is no such thing is refused") {
  for (const auto* shard : {"", "1", "/", "1/", "/2", "0/2", "3/2", "1/0", "-1/2", "+1/2", "1/2/3", "1 /2", "1/2x",
                            "1/99999999999999999999"}) {
    INFO(shard);
    const Workspace workspace;
    const auto found = plan(head + two_axes + step, {.shard = shard}).diagnostics;
    REQUIRE(found.size() == 1);
    CHECK(found[0].code == "P078");
  }
  for (const auto* row : {",", "n", "=", "n=", "n=1,n=2", "n=1;dtype=bf", "dtype=BF", "dtype=bf,n=1,o=1"}) {
    INFO(row);
    const Workspace workspace;
    const auto found = plan(head + two_axes + step, {.rows = {row}}).diagnostics;
    REQUIRE(found.size() == 1);
    CHECK(found[0].code == "P077");
  }
}

TEST_CASE("a list whose quotes the shell has eaten is not taken for one text") {
  const Workspace workspace;
  CHECK(findings(head + two_axes + step, {.sets = {"matrix.dtype=[fp]"}}) == Strings{"P070 --set matrix.dtype"});
  CHECK(names(two_axes, {.sets = {"matrix.dtype=\"[fp]\"", "matrix.n=1"}}) == Strings{"dtype=%5Bfp%5D,n=1"});
  CHECK(names("[matrix]\nt = \"[fp]\"\n") == Strings{"t=%5Bfp%5D"});
}

TEST_CASE("without a matrix there is one plan and no row") {
  const Workspace workspace;
  const auto result = plan(head + step);
  CHECK(result.rows.empty());
  CHECK_FALSE(result.plan.row.has_value());
  CHECK(result.plan.all_rows.empty());
}
