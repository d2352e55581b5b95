#include "catch.hpp"
#include "workspace.hpp"

using namespace lockstep;
using namespace lockstep::test;

namespace {

const std::string base = R"(schema = 1
[vars]
n = 2
[[step]]
id = "source"
uses = "test.source"
[[step]]
id = "p"
uses = "test.params"
with = { count = "${n}", text = "base" }
[[step]]
id = "reader"
uses = "test.reader"
checks.error = { max = 0.2, level = "inform" }
)";

std::string places(const PlanResult& result) { return parameter(result, "p", "count").origin; }

}  // namespace

TEST_CASE("an overlay merges variables, environment and steps key by key") {
  Workspace workspace;
  const auto result = plan(base, {.overlays = {"environment.threads = 3\n[vars]\nn = 4\n[step.p.with]\nratio = "
                                               "1\n[step.reader.checks.error]\nmax = 0.3\n"}});
  INFO(rendered(result));
  REQUIRE(result.ok());
  CHECK(result.plan.environment.threads == 3);
  CHECK(parameter(result, "p", "count").value == Value(4));
  CHECK(places(result) == "overlay1.toml:3:5");
  CHECK(parameter(result, "p", "text").value == Value("base"));
  CHECK(parameter(result, "p", "ratio").value == Value(1.0));
  CHECK(check(result, "reader", "error").bound.max == 0.3);
  CHECK(check(result, "reader", "error").level == Level::inform);
}

TEST_CASE("overlays apply in order and --set comes last") {
  Workspace workspace;
  const Arguments arguments{.overlays = {"vars.n = 4", "vars.n = 5"}};
  CHECK(parameter(plan(base, arguments), "p", "count").value == Value(5));
  const auto result = plan(base, {.overlays = arguments.overlays, .sets = {"n=6", "n=7"}});
  CHECK(parameter(result, "p", "count").value == Value(7));
  CHECK(places(result) == "--set n");
}

TEST_CASE("an overlay can change every key of a step but its id") {
  Workspace workspace;
  const auto result = plan(base, {.overlays = {"[step.p]\nid = \"q\"\n"}});
  CHECK(findings(result) == Strings{"P031 overlay1.toml:2:1"});
  const auto changed =
      plan(base, {.overlays = {"[step.p]\nuses = \"test.required\"\nwith = { size = 3 }\n[step.reader]\nskip = \"not "
                               "today\"\ninputs.batch = \"source.batch\"\n"}});
  INFO(rendered(changed));
  REQUIRE(changed.ok());
  CHECK(parameter(changed, "p", "size").value == Value(3));
  CHECK(changed.plan.steps[2].skip == "not today");
  CHECK_FALSE(changed.plan.steps[2].wires.at(0).inferred);
}

TEST_CASE("an overlay that sets uses or plugin starts with, checks and inputs anew") {
  Workspace workspace;
  const std::string toml =
      "schema = 1\n[[step]]\nid = \"s\"\nuses = \"test.source\"\n[[step]]\nid = \"r\"\nuses = \"test.reader\"\nplugin "
      "= \"a.so\"\n"
      "with = { x = 1 }\ninputs = { x = \"s.x\" }\nchecks = { x = {} }\n";
  CHECK(findings(toml) == Strings{"P014 9:10", "P045 10:12", "P050 11:12"});
  CHECK(findings(toml, {.overlays = {"step.r.uses = \"test.reader\""}}).empty());
  CHECK(findings(toml, {.overlays = {"step.r.plugin = \"b.so\""}}).empty());
  CHECK(findings(toml, {.sets = {"step.r.with.count=1", "step.r.uses=test.params"}})
            .empty());  // the order among --set does not matter

  FakeCatalog catalog;
  Workspace::write("pipeline.toml", toml);
  PipelineRequest request{.file = "pipeline.toml",
                          .configs = {Workspace::write("o.toml", "step.r.uses = \"test.reader\"")},
                          .sets = {},
                          .skips = {}};
  CHECK(make_plan(request, catalog).ok());
  CHECK(catalog.plugins_asked_for.empty());  // the old file holds the old step
}

TEST_CASE("[[step]] in an overlay is an error that says so") {
  Workspace workspace;
  CHECK(findings(base, {.overlays = {"[[step]]\nid = \"p\"\n"}}) == Strings{"P029 overlay1.toml:1:1"});
}

TEST_CASE("a step that the pipeline does not have cannot be changed") {
  Workspace workspace;
  const auto result = plan(base, {.overlays = {"step.sorce.skip = \"x\""}, .sets = {"step.q.skip=x"}});
  CHECK(findings(result) == Strings{"P030 overlay1.toml:1:6", "P030 --set step.q.skip"});
  CHECK(result.diagnostics.front().did_you_mean == "source");
}

TEST_CASE("an overlay has only vars, environment and step, and may name the schema") {
  Workspace workspace;
  CHECK(findings(base, {.overlays = {"schema = 1"}}).empty());
  CHECK(findings(base, {.overlays = {"schema = 2"}}) == Strings{"P006 overlay1.toml:1:10"});
  CHECK(findings(base, {.overlays = {"name = \"x\"\n[step.p]\nwiht = {}\n"}}) ==
        Strings{"P007 overlay1.toml:1:1", "P007 overlay1.toml:3:1"});
  CHECK(findings(base, {.overlays = {"step.p = 3"}}) == Strings{"P008 overlay1.toml:1:10"});
}

TEST_CASE("diagnostics point at the overlay or argument that a value came from") {
  Workspace workspace;
  CHECK(findings(base, {.overlays = {"step.p.with.count = 99"}}) == Strings{"P017 overlay1.toml:1:21"});
  CHECK(findings(base, {.sets = {"step.p.with.count=99"}}) == Strings{"P017 --set step.p.with.count"});
  CHECK(rendered(plan(base, {.sets = {"step.p.with.count = 99"}})) ==
        "--set: error[P017]: parameter 'count' of step 'p' is 99, expected 1 to 8\n"
        "    | step.p.with.count = 99\n"
        "    |                     ^^\n");
}

TEST_CASE("a KEY of --set without a dot is a variable, quoted parts are taken as they are") {
  Workspace workspace;
  CHECK(parameter(plan(base, {.sets = {"n=8"}}), "p", "count").value == Value(8));
  CHECK(parameter(plan(base, {.sets = {"vars.n=8"}}), "p", "count").value == Value(8));
  CHECK(parameter(plan(base, {.sets = {"\"vars\".'n' = 8"}}), "p", "count").value == Value(8));
  CHECK(plan(base, {.sets = {"environment.threads=5"}}).plan.environment.threads == 5);
  CHECK_FALSE(plan(base, {.sets = {"environment.threads=auto"}}).plan.environment.threads.has_value());
}

TEST_CASE("--set needs a key, '=' and a place that exists") {
  Workspace workspace;
  CHECK(findings(base, {.sets = {"n"}}) == Strings{"P032 --set n"});
  CHECK(findings(base, {.sets = {"=1"}}) == Strings{"P032 --set "});
  CHECK(findings(base, {.sets = {"a b=1"}}) == Strings{"P032 --set a b"});
  CHECK(findings(base, {.sets = {"# n=1"}}) == Strings{"P032 --set # n"});
  CHECK(findings(base, {.sets = {"n\n=1"}}) == Strings{"P032 --set n\n"});
  CHECK(findings(base, {.sets = {"steps.p.skip=x"}}) == Strings{"P033 --set steps.p.skip"});
  CHECK(findings(base, {.sets = {"step.p=x"}}) == Strings{"P033 --set step.p"});
  CHECK(findings(base, {.sets = {"step.p.count=1"}}) == Strings{"P007 --set step.p.count"});
  CHECK(findings(base, {.sets = {"environment.tread=1"}}) == Strings{"P007 --set environment.tread"});
}

TEST_CASE("VALUE of --set is a TOML value if it parses as one, else text") {
  Workspace workspace;
  const auto value = [&](const std::string& name, const std::string& set) {
    return parameter(plan(base, {.sets = {"step.p.with." + set}}), "p", name).value;
  };
  CHECK(value("count", "count=0x4") == Value(4));
  CHECK(value("flag", "flag=true") == Value(true));
  CHECK(value("ratio", "ratio=1e-1") == Value(0.1));
  CHECK(value("sizes", "sizes=[1, 2]") == Value(Value::Array{1, 2}));
  CHECK(value("text", "text=two words") == Value("two words"));
  CHECK(value("text", "text=a = b") == Value("a = b"));
  CHECK(value("text", "text=\"quoted\"") == Value("quoted"));
  CHECK(value("text", "text=1\nb = 2") == Value("1\nb = 2"));
  CHECK(value("text", "text=") == Value(""));
}

TEST_CASE("a text parameter takes the raw spelling") {
  Workspace workspace;
  const auto text = [&](const std::string& set) {
    return parameter(plan(base, {.sets = {"step.p.with.text=" + set}}), "p", "text").value;
  };
  CHECK(text("007") == Value("007"));
  CHECK(text("1.50") == Value("1.50"));
  CHECK(text("true") == Value("true"));
  CHECK(text("2000-01-01") == Value("2000-01-01"));
  CHECK(text("[1]") == Value("[1]"));
  const std::string toml =
      "schema = 1\n[vars]\nw = \"x\"\n[[step]]\nid = \"p\"\nuses = \"test.params\"\nwith = { text = \"${w}\", names = "
      "[\"<${w}>\"] }\n";
  const auto result = plan(toml, {.sets = {"w=1.50"}});
  REQUIRE(result.ok());
  CHECK(parameter(result, "p", "text").value == Value("1.50"));
  CHECK(parameter(result, "p", "names").value == Value(Value::Array{"<1.50>"}));
}
