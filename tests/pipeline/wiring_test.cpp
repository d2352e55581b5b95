#include "catch.hpp"
#include "workspace.hpp"

using namespace lockstep;
using namespace lockstep::test;

namespace {

std::string step(const std::string& id, const std::string& uses, const std::string& more = "") {
  return "[[step]]\nid = \"" + id + "\"\nuses = \"test." + uses + "\"\n" + more;
}

std::string pipeline(const std::string& steps) { return "schema = 1\n" + steps; }

}  // namespace

TEST_CASE("an input that is not wired is bound to the one earlier output of its name and type") {
  Workspace workspace;
  const auto result =
      plan(pipeline(step("w", "words") + step("s", "source") + step("r", "reader") + step("late", "other")));
  INFO(rendered(result));
  REQUIRE(result.ok());
  const auto& wires = result.plan.steps[2].wires;
  REQUIRE(wires.size() == 1);  // the optional mask stays empty
  CHECK(wires[0].input == "batch");
  CHECK(wires[0].step == 1);
  CHECK(wires[0].output == "batch");
  CHECK(wires[0].inferred);
}

TEST_CASE("a written wire is taken as written and knows its place") {
  Workspace workspace;
  const auto result = plan(pipeline(step("s", "source") + step("o", "other") +
                                    step("r", "reader", "inputs = { batch = \"s.batch\", mask = \"o.batch\" }\n")));
  INFO(rendered(result));
  REQUIRE(result.ok());
  const auto& wires = result.plan.steps[2].wires;
  REQUIRE(wires.size() == 2);
  CHECK(wires[0].step == 0);
  CHECK_FALSE(wires[0].inferred);
  CHECK(wires[0].location.to_string() == "pipeline.toml:11:20");
  CHECK(wires[1].input == "mask");
  CHECK(wires[1].step == 1);
  CHECK(wires[1].output == "batch");
}

TEST_CASE("several fitting outputs are an error that lists them") {
  Workspace workspace;
  const auto result = plan(pipeline(step("s", "source") + step("o", "other") + step("r", "reader")));
  CHECK(findings(result) == Strings{"P047 9:6"});
  const auto& notes = result.diagnostics.front().notes;
  REQUIRE(notes.size() == 2);
  CHECK(notes[0].message == "'s.batch'");
  CHECK(notes[1].message == "'o.batch'");
}

TEST_CASE("no fitting output is an error unless the port is optional") {
  Workspace workspace;
  const auto result = plan(pipeline(step("w", "words") + step("r", "reader")));
  CHECK(findings(result) == Strings{"P046 6:6"});
  REQUIRE(result.diagnostics.front().notes.size() == 1);
  CHECK(result.diagnostics.front().notes[0].message == "'w.batch' has type lockstep.text/1");
}

TEST_CASE("a wire names an output of an earlier step") {
  Workspace workspace;
  const auto found = [](const std::string& wire) {
    return findings(
        pipeline(step("s", "source") + step("r", "reader", "inputs.batch = " + wire + "\n") + step("o", "other")));
  };
  CHECK(found("\"s.batch\"").empty());
  for (const auto* wire : {"\"s\"", "\".batch\"", "\"s.\"", "\"\"", "3", "[\"s.batch\"]"}) {
    INFO(wire);
    CHECK(found(wire) == Strings{"P040 8:16"});
  }
  CHECK(found("\"t.batch\"") == Strings{"P041 8:16"});
  CHECK(found("\"o.batch\"") == Strings{"P042 8:16"});
  CHECK(found("\"r.batch\"") == Strings{"P042 8:16"});
  CHECK(found("\"s.bacth\"") == Strings{"P043 8:16"});
  CHECK(found("\"s.caption\"") == Strings{"P044 8:16"});
}

TEST_CASE("one tensor that is wired to a set, and a set to one tensor, is told what to declare") {
  Workspace workspace;
  const auto help = [](const std::string& from, const std::string& output, const std::string& to) {
    const auto result = plan(pipeline(step("a", from) + step("b", to, output)));
    REQUIRE(findings(result).size() == 1);
    CHECK(result.diagnostics.front().code == "P044");
    return result.diagnostics.front().help;
  };
  CHECK(help("set", "inputs.batch = \"a.tensors\"\n", "reader") ==
        "'a.tensors' is a set of named tensors: let the step declare In<NamedTensors> batch and take one with "
        "batch->at(\"name\")");
  CHECK(help("source", "inputs.tensors = \"a.batch\"\n", "set_reader") ==
        "'a.batch' is one tensor, the input takes a set of named ones: let the step that gives it declare "
        "Out<NamedTensors>");
}

TEST_CASE("an unknown input is named, with the nearest known one") {
  Workspace workspace;
  const auto result = plan(pipeline(step("s", "source") + step("r", "reader", "inputs.bacth = \"s.batch\"\n")));
  CHECK(findings(result) == Strings{"P045 8:8"});
  CHECK(result.diagnostics.front().did_you_mean == "batch");
}

TEST_CASE("a required input under a misspelt name is one mistake, not two") {
  Workspace workspace;
  const auto reader = step("r", "reader", "inputs.bacth = \"s.batch\"\n");
  CHECK(findings(pipeline(step("s", "source") + step("o", "other") + reader)) == Strings{"P045 11:8"});
}

TEST_CASE("a step that is not found is an error with the nearest name, and nothing follows from it") {
  Workspace workspace;
  const auto result = plan(pipeline(step("s", "suorce", "with = { anything = 1 }\ninputs.x = \"y.z\"\n") +
                                    step("r", "reader") + step("q", "reader", "inputs.batch = \"s.whatever\"\n")));
  CHECK(findings(result) == Strings{"L001 4:8"});
  CHECK(result.diagnostics.front().did_you_mean == "test.source");
  CHECK(result.exit_code() == 2);
}

TEST_CASE("a plugin that does not load is exit code 3, together with other errors 2") {
  Workspace workspace;
  const auto broken = plan(pipeline(step("b", "broken") + step("r", "reader")));
  CHECK(findings(broken) == Strings{"L002 4:8"});
  CHECK(broken.exit_code() == 3);
  const auto both = plan(pipeline(step("b", "broken") + step("p", "params", "with.conut = 1\n")));
  CHECK(findings(both) == Strings{"L002 4:8", "P014 8:6"});
  CHECK(both.exit_code() == 2);
}

TEST_CASE("an explicit plugin that does not load is reported at its path") {
  Workspace workspace;
  CHECK(findings(pipeline(step("b", "broken", "plugin = \"x.so\"\n"))) == Strings{"L002 5:10"});
}

TEST_CASE("a skipped step need not be found, and wires to it are accepted unchecked") {
  Workspace workspace;
  for (const auto* uses : {"missing", "broken"}) {
    const auto result = plan(pipeline(
        step("later", uses,
             "skip = \"not built yet\"\nwith = { x = 1 }\nchecks.y.z = 1\ninputs = { w = \"nobody.nothing\" }\n") +
        step("r", "reader", "inputs.batch = \"later.anything\"\n")));
    INFO(rendered(result));
    REQUIRE(result.ok());
    CHECK(result.plan.steps[0].skip == "not built yet");
    CHECK_FALSE(result.plan.steps[0].handle.has_value());
    REQUIRE(result.plan.steps[1].wires.size() == 1);
    CHECK(result.plan.steps[1].wires[0].step == 0);
    CHECK(result.plan.steps[1].wires[0].output == "anything");
  }
}

TEST_CASE("the tables of a skipped step that is not found are checked for form") {
  Workspace workspace;
  CHECK(findings(pipeline(
            step("later", "missing", "skip = \"x\"\nwith = 1\nchecks = { y = 2 }\ninputs = { w = \"nothing\" }\n"))) ==
        Strings{"P008 6:8", "P008 7:16", "P040 8:16"});
  CHECK(findings(pipeline(step("later", "missing", "skip = \"x\"\nwith = { a = \"${b}\" }\n"))) ==
        Strings{"P022 6:15"});
}

TEST_CASE("nothing is inferred from a skipped step that is not found") {
  Workspace workspace;
  const auto result = plan(pipeline(step("later", "missing", "skip = \"x\"\n") + step("r", "reader")));
  CHECK(findings(result) == Strings{"P046 7:6"});
}

TEST_CASE("a skipped step that loads is checked and takes part in binding") {
  Workspace workspace;
  CHECK(findings(pipeline(step("p", "params", "skip = \"x\"\nwith.conut = 1\n"))) == Strings{"P014 6:6"});
  const auto result = plan(pipeline(step("s", "source", "skip = \"x\"\n") + step("r", "reader")));
  REQUIRE(result.ok());
  CHECK(result.plan.steps[0].handle.has_value());
  CHECK(result.plan.steps[1].wires.at(0).step == 0);
}

TEST_CASE("--skip is skip = \"--skip\", and an empty reason means that the step runs") {
  Workspace workspace;
  const auto toml = pipeline(step("s", "source") + step("later", "missing", "skip = \"\"\n"));
  CHECK(findings(toml) == Strings{"L001 7:8"});
  const auto result = plan(toml, {.skips = {"later"}});
  REQUIRE(result.ok());
  CHECK(result.plan.steps[1].skip == "--skip");
  CHECK_FALSE(result.plan.steps[0].skip.has_value());
}

TEST_CASE("--skip of an unknown step is an error with the nearest name") {
  Workspace workspace;
  const auto result = plan(pipeline(step("source", "source")), {.skips = {"suorce"}});
  CHECK(findings(result) == Strings{"P034 --skip suorce"});
  CHECK(result.diagnostics.front().did_you_mean == "source");
}

TEST_CASE("skip is a text") {
  Workspace workspace;
  CHECK(findings(pipeline(step("s", "source", "skip = true\n"))) == Strings{"P008 5:8"});
}
