#include <lockstep/safetensors.hpp>

#include "catch.hpp"
#include "workspace.hpp"

using namespace lockstep;
using namespace lockstep::test;

namespace {

const std::string one_step = "[[step]]\nid = \"a\"\nuses = \"test.source\"\n";

}  // namespace

TEST_CASE("a pipeline that follows the rules becomes a plan") {
  Workspace workspace;
  const auto result = plan(R"(
schema = 1
name = "demo"
description = "what it is for"
[environment]
threads = 2
seed = 7
[[step]]
id = "source"
uses = "test.source"
[[step]]
id = "reader-2"
uses = "test.reader"
)");
  CHECK(rendered(result) == "");
  REQUIRE(result.ok());
  CHECK(result.exit_code() == 0);
  CHECK(result.plan.name == "demo");
  CHECK(result.plan.description == "what it is for");
  CHECK(result.plan.file == "pipeline.toml");
  CHECK(result.plan.environment.threads == 2);
  CHECK(result.plan.environment.seed == 7);
  REQUIRE(result.plan.steps.size() == 2);
  CHECK(result.plan.steps[1].id == "reader-2");
  CHECK(result.plan.steps[1].uses == "test.reader");
  CHECK(result.plan.steps[1].location.to_string() == "pipeline.toml:12:6");
}

TEST_CASE("the plan carries the digest of the file's bytes and every override in order") {
  Workspace workspace;
  const std::string toml = "schema = 1\n[vars]\nx = 1\n" + one_step;
  const auto result = plan(toml, {.overlays = {"", ""}, .sets = {"x=2", "environment.seed=3"}});
  CHECK(result.ok());
  // echo -n abc | sha256sum, so that the digest itself is not only compared with itself
  CHECK(sha256(std::string_view("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(result.plan.sha256 == sha256(std::string_view(toml)));
  CHECK(result.plan.overrides ==
        Strings{"--config overlay1.toml", "--config overlay2.toml", "--set x=2", "--set environment.seed=3"});
}

TEST_CASE("name, file and digest are known even if the pipeline is invalid") {
  Workspace workspace;
  const auto result = plan("schema = 1\nname = \"n\"\nnmae = 1\n");
  CHECK_FALSE(result.ok());
  CHECK(result.exit_code() == 2);
  CHECK(result.plan.name == "n");
  CHECK(result.plan.sha256.size() == 64);
}

TEST_CASE("schema must be 1") {
  Workspace workspace;
  CHECK(findings(one_step) == Strings{"P006 1:1"});
  CHECK(findings("schema = 2\n" + one_step) == Strings{"P006 1:10"});
  CHECK(findings("schema = \"1\"\n" + one_step) == Strings{"P006 1:10"});
  CHECK(findings("schema = 1\n" + one_step).empty());
}

TEST_CASE("a file of another schema is not judged by the rules of this one") {
  Workspace workspace;
  CHECK(findings("schema = 2\nstages = 3\n[[step]]\nx = 1\n") == Strings{"P006 1:10"});
}

TEST_CASE("the name defaults to the file's") {
  Workspace workspace;
  CHECK(plan("schema = 1\n" + one_step).plan.name == "pipeline");
}

TEST_CASE("every unknown key is found, with the nearest known one") {
  Workspace workspace;
  const auto result = plan("schema = 1\nnaem = \"x\"\n[environment]\nthread = 2\n" + one_step + "wiht = {}\n");
  CHECK(findings(result) == Strings{"P007 2:1", "P007 4:1", "P007 8:1"});
  CHECK(result.diagnostics[0].did_you_mean == "name");
  CHECK(result.diagnostics[1].did_you_mean == "threads");
  CHECK(result.diagnostics[2].did_you_mean == "with");
}

TEST_CASE("keys have the kind that they need") {
  Workspace workspace;
  CHECK(findings("schema = 1\nname = 3\n" + one_step) == Strings{"P008 2:8"});
  CHECK(findings("schema = 1\nvars = 3\n" + one_step) == Strings{"P008 2:8"});
  CHECK(findings("schema = 1\nenvironment = []\n" + one_step) == Strings{"P008 2:15"});
  CHECK(findings("schema = 1\nstep = 3\n") == Strings{"P008 2:8"});
  CHECK(findings("schema = 1\nstep = [1]\n") == Strings{"P008 2:9"});
  CHECK(findings("schema = 1\n" + one_step + "with = 3\ninputs = 4\nchecks = 5\nskip = 6\nplugin = 7\n") ==
        Strings{"P008 5:8", "P008 6:10", "P008 7:10", "P008 8:8", "P008 9:10"});
}

TEST_CASE("threads is a positive integer or auto, seed is not negative, kernels is auto or torch") {
  Workspace workspace;
  const auto with = [](const std::string& line) { return "schema = 1\n[environment]\n" + line + "\n" + one_step; };
  CHECK(findings(with("threads = 0")) == Strings{"P017 3:11"});
  CHECK(findings(with("threads = -1")) == Strings{"P017 3:11"});
  CHECK(findings(with("threads = 9000000000")) == Strings{"P017 3:11"});
  CHECK(findings(with("threads = \"many\"")) == Strings{"P008 3:11"});
  CHECK(findings(with("threads = 1.0")) == Strings{"P008 3:11"});
  CHECK(findings(with("seed = -1")) == Strings{"P017 3:8"});
  CHECK(findings(with("seed = \"x\"")) == Strings{"P008 3:8"});
  CHECK(findings(with("kernels = \"fast\"")) == Strings{"P008 3:11"});
  CHECK(findings(with("kernels = 1")) == Strings{"P008 3:11"});
  CHECK(plan(with("kernels = \"torch\"")).plan.environment.kernels == "torch");
  CHECK(plan(with("kernels = \"auto\"")).plan.environment.kernels == "auto");
  const auto result = plan(with("threads = \"auto\""));
  CHECK(result.ok());
  CHECK_FALSE(result.plan.environment.threads.has_value());
  CHECK(plan("schema = 1\n" + one_step).plan.environment.threads.value_or(0) >= 1);
}

TEST_CASE("a pipeline without steps is an error") {
  Workspace workspace;
  CHECK(findings("schema = 1\n") == Strings{"P009 pipeline.toml"});
  CHECK(findings("schema = 1\nstep = []\n") == Strings{"P009 pipeline.toml"});
  CHECK(findings("schema = 1\n[[steps]]\nid = \"a\"\n") == Strings{"P007 2:3"});  // the reason why there are none
}

TEST_CASE("ids match [A-Za-z_][A-Za-z0-9_-]* and are unique") {
  Workspace workspace;
  const auto step = [](const std::string& id) {
    return "schema = 1\n[[step]]\nid = \"" + id + "\"\nuses = \"test.source\"\n";
  };
  for (const auto* id : {"a", "_", "A9", "a-b_c"}) CHECK(findings(step(id)).empty());
  for (const auto* id : {"", "9a", "-a", "a.b", "a b", "\xc3\xa4", "a/b", "${x}"})
    CHECK(findings(step(id)) == Strings{"P010 3:6"});
  const auto result = plan("schema = 1\n" + one_step + one_step);
  CHECK(findings(result) == Strings{"P012 6:6"});
  REQUIRE(result.diagnostics.front().notes.size() == 1);
  CHECK(result.diagnostics.front().notes.front().location.to_string() == "pipeline.toml:3:6");
}

TEST_CASE("id and uses are required") {
  Workspace workspace;
  CHECK(findings("schema = 1\n[[step]]\nuses = \"test.source\"\n[[step]]\nid = \"a\"\n") ==
        Strings{"P011 2:1", "P011 5:6"});
}

TEST_CASE("[step.a.with] behind a [[step]] is recognised") {
  Workspace workspace;
  const std::string steps =
      "schema = 1\n[[step]]\nid = \"a\"\nuses = \"test.params\"\n[[step]]\nid = \"b\"\nuses = \"test.source\"\n";
  CHECK(findings(steps + "[step.a.with]\ncount = 3\n") == Strings{"P013 8:1"});
  CHECK(findings(steps + "[step.a]\nskip = \"x\"\n") == Strings{"P013 8:1"});
  CHECK(findings(steps + "[step.elsewhere.with]\ncount = 3\n") == Strings{"P013 8:1"});
  CHECK(findings(steps + "[step.wiht]\ncount = 3\n") == Strings{"P007 8:7"});
  CHECK(findings(steps + "[step.with]\n").empty());
}

TEST_CASE("[step.a] instead of [[step]] is explained") {
  Workspace workspace;
  CHECK(findings("schema = 1\n[step.a]\nuses = \"test.source\"\n") == Strings{"P008 2:1"});
}

TEST_CASE("the first syntax error of each file is found") {
  Workspace workspace;
  CHECK(findings("schema = \n", {.overlays = {"[vars\n", "vars = 3\n"}}) ==
        Strings{"P004 1:10", "P004 overlay1.toml:1:6", "P008 overlay2.toml:1:8"});
}

TEST_CASE("everything that is wrong is listed at once, in the order of files, lines and columns") {
  Workspace workspace;
  CHECK(findings("schema = 1\n[vars]\nx = \"${y}\"\n[[step]]\nid = \"1\"\nuses = \"test.params\"\nwith = { count = 99, "
                 "conut = 1 }\n"
                 "[[step]]\nid = \"b\"\nuses = \"test.reader\"\nchecks.near.level = \"never\"\n",
                 {.overlays = {"[step.c]\nskip = \"x\"\n"}, .sets = {"z=1", "x"}, .skips = {"d"}}) ==
        Strings{"P022 3:6", "P010 5:6", "P017 7:18", "P014 7:22", "P046 9:6", "P052 11:21", "P030 overlay1.toml:1:7",
                "P022 --set z", "P032 --set x", "P034 --skip d"});
}

TEST_CASE("names are those of the command line") {
  Workspace workspace;
  std::filesystem::create_directories("sub");
  Workspace::write("sub/p.toml", "schema = 3\n");
  FakeCatalog catalog;
  CHECK(make_plan({.file = "sub/../sub/p.toml", .configs = {}, .sets = {}, .skips = {}}, catalog)
            .diagnostics.at(0)
            .location.to_string() == "sub/../sub/p.toml:1:10");
}

TEST_CASE("files that cannot be read are diagnosed together") {
  Workspace workspace;
  std::filesystem::create_directories("folder");
  FakeCatalog catalog;
  const auto result =
      make_plan({.file = "missing.toml", .configs = {"folder", "too/missing.toml"}, .sets = {}, .skips = {}}, catalog);
  CHECK(findings(result) == Strings{"P001 missing.toml", "P001 folder", "P001 too/missing.toml"});
  CHECK(result.exit_code() == 2);
}
