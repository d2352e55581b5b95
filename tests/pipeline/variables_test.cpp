#include "catch.hpp"
#include "workspace.hpp"

using namespace lockstep;
using namespace lockstep::test;

namespace {

/// A pipeline with these [vars] and one test.params step with this `with`.
std::string pipeline(const std::string& vars, const std::string& with) {
  return "schema = 1\n[vars]\n" + vars + "\n[[step]]\nid = \"p\"\nuses = \"test.params\"\nwith = { " + with + " }\n";
}

Value value_of(const std::string& vars, const std::string& with, const std::string& name) {
  const auto result = plan(pipeline(vars, with));
  INFO(rendered(result));
  REQUIRE(result.ok());
  return parameter(result, "p", name).value;
}

}  // namespace

TEST_CASE("a text that is exactly ${x} takes x's type and location") {
  Workspace workspace;
  const auto result = plan(pipeline("n = 5", "count = \"${n}\""));
  REQUIRE(result.ok());
  CHECK(parameter(result, "p", "count").value == Value(5));
  CHECK(parameter(result, "p", "count").origin == "pipeline.toml:3:5");
  CHECK(value_of("b = true", "flag = \"${b}\"", "flag") == Value(true));
  CHECK(value_of("l = [1, 2]", "sizes = \"${l}\"", "sizes") == Value(Value::Array{1, 2}));
}

TEST_CASE("a wrong value is shown where the variable is set, with a note where it is used") {
  Workspace workspace;
  const auto result = plan(pipeline("n = 99", "count = \"${n}\""));
  CHECK(findings(result) == Strings{"P017 3:5"});
  REQUIRE(result.diagnostics.front().notes.size() == 1);
  CHECK(result.diagnostics.front().notes.front().location.to_string() == "pipeline.toml:7:18");
}

TEST_CASE("a variable may stand for a whole table") {
  Workspace workspace;
  const auto result =
      plan("schema = 1\n[vars]\nt = { count = 4 }\n[[step]]\nid = \"p\"\nuses = \"test.params\"\nwith = \"${t}\"\n");
  REQUIRE(result.ok());
  CHECK(parameter(result, "p", "count").value == Value(4));
}

TEST_CASE("scalars are inserted into longer texts") {
  Workspace workspace;
  CHECK(value_of("i = 5\nr = 0.5\nw = 1.0\nb = true\ns = \"x\"", "text = \"<${i}|${r}|${w}|${b}|${s}>\"", "text") ==
        Value("<5|0.5|1.0|true|x>"));
}

TEST_CASE("lists, tables and dates cannot stand inside a text") {
  Workspace workspace;
  CHECK(findings(pipeline("l = [1]", "text = \"a ${l}\"")) == Strings{"P025 7:20"});
  CHECK(findings(pipeline("l = {}", "text = \"a ${l}\"")) == Strings{"P025 7:20"});
  CHECK(findings(pipeline("l = 2000-01-01", "text = \"a ${l}\"")) == Strings{"P025 7:20"});
}

TEST_CASE("$$ is a dollar and a lone dollar stays") {
  Workspace workspace;
  CHECK(value_of("x = 1", "text = \"$$ $ $${x} $1 $$$${x}\"", "text") == Value("$ $ ${x} $1 $${x}"));
  CHECK(value_of("x = 1", "text = \"$$${x}\"", "text") == Value("$1"));
}

TEST_CASE("variables may use others, in any order") {
  Workspace workspace;
  CHECK(value_of("a = \"${c}/x\"\nb = \"${a}\"\nc = \"root\"", "text = \"${b}\"", "text") == Value("root/x"));
  const auto result = plan(pipeline("a = \"${c}\"\nc = 4", "count = \"${a}\""));
  REQUIRE(result.ok());
  CHECK(parameter(result, "p", "count").origin == "pipeline.toml:4:5");
}

TEST_CASE("a cycle is an error that prints it, once") {
  Workspace workspace;
  const auto result = plan(pipeline("a = \"${b}\"\nb = \"x${c}\"\nc = \"${a}\"\nd = \"${a}\"", "text = \"${a}\""));
  CHECK(findings(result) == Strings{"P023 3:5"});
  CHECK(result.diagnostics.front().message == "variables use one another in a circle: a -> b -> c -> a");
  CHECK(findings(pipeline("a = \"${a}\"", "text = \"x\"")) == Strings{"P023 3:5"});
  CHECK(findings(pipeline("a = [\"${a}\"]", "text = \"x\"")) == Strings{"P023 3:5"});
}

TEST_CASE("an unknown variable is found wherever it stands, with the nearest name") {
  Workspace workspace;
  const auto result = plan(pipeline("checkpoint = \"x\"", "text = \"a ${chekpoint}\", names = [\"${no}\"]"));
  CHECK(findings(result) == Strings{"P022 7:20", "P022 7:45"});
  CHECK(result.diagnostics.front().did_you_mean == "checkpoint");
  CHECK(findings(pipeline("a = \"${unknown}\"", "text = \"${a}\"")) ==
        Strings{"P022 3:6"});  // reported where it is written, once
}

TEST_CASE("a malformed reference is an error") {
  Workspace workspace;
  CHECK(findings(pipeline("x = 1", "text = \"a ${x\"")) == Strings{"P024 7:20"});
  CHECK(findings(pipeline("x = 1", "text = \"a ${}\"")) == Strings{"P024 7:20"});
  CHECK(findings(pipeline("x = 1", "text = \"a ${ x }\"")) == Strings{"P024 7:20"});
  CHECK(findings(pipeline("x = 1", "text = \"a ${x.y}\"")) == Strings{"P024 7:20"});
}

TEST_CASE("a malformed reference hides no other mistake of its text") {
  Workspace workspace;
  CHECK(findings(pipeline("x = 1", "text = \"${no} ${x\"")) == Strings{"P022 7:18", "P024 7:24"});
  CHECK(findings(pipeline("x = 1", "text = \"${x ${no}\"")) == Strings{"P024 7:18", "P022 7:22"});
  CHECK(findings(pipeline("x = 1", "text = \"${1} ${no} ${}\"")) == Strings{"P024 7:18", "P022 7:23", "P024 7:29"});
  CHECK(findings(pipeline("x = 1", "text = \"${x $${no}\"")) == Strings{"P024 7:18"});  // $${ is text
}

TEST_CASE("a required variable must be set by an overlay or --set") {
  Workspace workspace;
  const auto toml = pipeline("required = [\"n\", \"m\"]\nm = 1", "count = \"${n}\"");
  const auto result = plan(toml);
  CHECK(findings(result) == Strings{"P026 3:13"});
  CHECK(findings(toml, {.sets = {"n=2"}}).empty());
  CHECK(findings(toml, {.overlays = {"vars.n = 2"}}).empty());
}

TEST_CASE("an overlay's list of required variables is added") {
  Workspace workspace;
  const auto toml = pipeline("required = [\"a\"]", "text = \"x\"");
  CHECK(findings(toml, {.overlays = {"vars.required = [\"b\", \"a\"]"}}) ==
        Strings{"P026 3:13", "P026 overlay1.toml:1:18"});
  CHECK(findings(toml, {.overlays = {"vars.required = [\"b\"]\nvars.a = 1\nvars.b = 2"}}).empty());
}

TEST_CASE("required is a list of names, names are identifiers") {
  Workspace workspace;
  CHECK(findings(pipeline("required = \"a\"", "")) == Strings{"P027 3:12"});
  CHECK(findings(pipeline("required = [1, \"a b\"]", "")) == Strings{"P027 3:13", "P027 3:16"});
  CHECK(findings(pipeline("\"a b\" = 1", "")) == Strings{"P027 3:1"});
}

TEST_CASE("a variable that only --set or an overlay names and nothing uses is unknown") {
  Workspace workspace;
  const auto toml = pipeline("prompt = \"x\"", "text = \"${prompt}\"");
  const auto result = plan(toml, {.overlays = {"vars.promt = 1"}, .sets = {"promtp=1"}});
  CHECK(findings(result) == Strings{"P022 overlay1.toml:1:6", "P022 --set promtp"});
  CHECK(result.diagnostics.front().did_you_mean == "prompt");
  CHECK(findings(toml, {.overlays = {"vars.extra = \"y\"\nvars.prompt = \"${extra}\""}}).empty());
}

TEST_CASE("environment variables are not expanded") {
  Workspace workspace;
  CHECK(value_of("x = 1", "text = \"$HOME ~\"", "text") == Value("$HOME ~"));
  CHECK(findings(pipeline("x = 1", "text = \"${HOME}\"")) == Strings{"P022 7:18"});
}
