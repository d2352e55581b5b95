#include <limits>

#include "catch.hpp"
#include "workspace.hpp"

using namespace lockstep;
using namespace lockstep::test;

namespace {

std::string pipeline(const std::string& with, const std::string& uses = "test.params") {
  return "schema = 1\n[[step]]\nid = \"p\"\nuses = \"" + uses + "\"\n[step.with]\n" + with + "\n";
}

Value value_of(const std::string& with, const std::string& name) {
  const auto result = plan(pipeline(with));
  INFO(rendered(result));
  REQUIRE(result.ok());
  return parameter(result, "p", name).value;
}

}  // namespace

TEST_CASE("every kind of parameter takes its kind of value") {
  Workspace workspace;
  Workspace::write("f.txt", "");
  std::filesystem::create_directories("d");
  CHECK(value_of("flag = true", "flag") == Value(true));
  CHECK(value_of("count = 8", "count") == Value(8));
  CHECK(value_of("ratio = 0.25", "ratio") == Value(0.25));
  CHECK(value_of("text = \"\"", "text") == Value(""));
  CHECK(value_of("dtype = \"float32\"", "dtype") == Value("float32"));
  CHECK(value_of("file = \"f.txt\"", "file") == Value("f.txt"));
  CHECK(value_of("folder = \"d\"", "folder") == Value("d"));
  CHECK(value_of("sizes = [1, 2]", "sizes") == Value(Value::Array{1, 2}));
  CHECK(value_of("names = []", "names") == Value(Value::Array{}));
  CHECK(value_of("files = [\"f.txt\"]", "files") == Value(Value::Array{"f.txt"}));
}

TEST_CASE("a reference in the place of a text takes the spelling of a number or boolean, a bare number does not") {
  Workspace workspace;
  const auto with_axis = [](const std::string& axis, const std::string& with) {
    return plan("schema = 1\n[matrix]\nx = [" + axis +
                "]\n[[step]]\nid = \"p\"\nuses = \"test.params\"\n[step.with]\n" + with + "\n");
  };
  CHECK(parameter(with_axis("160", "names = [\"--length\", \"${matrix.x}\"]"), "p", "names").value ==
        Value(Value::Array{"--length", "160"}));
  CHECK(parameter(with_axis("2.5", "text = \"${matrix.x}\""), "p", "text").value == Value("2.5"));
  CHECK(parameter(with_axis("true", "text = \"${matrix.x}\""), "p", "text").value == Value("true"));
  CHECK(findings(with_axis("1", "dtype = \"${matrix.x}\"")) == Strings{"P018 3:6"});
  CHECK(findings(plan(pipeline("text = 160"))) == Strings{"P016 6:8"});
}

TEST_CASE("values reach the step object") {
  Workspace workspace;
  const auto result = plan(pipeline("count = 7\nratio = 1"));
  REQUIRE(result.ok());
  const auto& parameters = result.plan.steps[0].handle->step->declarations().parameters;
  CHECK(*dynamic_cast<const Param<std::int64_t>&>(*parameters[1]) == 7);
  CHECK(*dynamic_cast<const Param<double>&>(*parameters[2]) == 1.0);
  CHECK(parameters[1]->location().to_string() == "pipeline.toml:6:9");
  CHECK_FALSE(parameters[0]->location().source);  // a default
}

TEST_CASE("parameters are listed in the order of declaration, with their origin") {
  Workspace workspace;
  const auto result = plan(pipeline("ratio = 1\nflag = true"));
  REQUIRE(result.ok());
  const auto& parameters = result.plan.steps[0].parameters;
  REQUIRE(parameters.size() == 10);
  CHECK(parameters[0].name == "flag");
  CHECK(parameters[0].origin == "pipeline.toml:7:8");
  CHECK(parameters[1].name == "count");
  CHECK(parameters[1].origin == "default");
  CHECK(parameters[1].value == Value(3));
  CHECK(parameters[5].value == Value());  // optional and not given
}

TEST_CASE("an integer is accepted for a real number, nothing else is converted") {
  Workspace workspace;
  CHECK(value_of("ratio = 1", "ratio") == Value(1.0));
  for (const auto* line : {"count = 1.0", "count = \"1\"", "count = true", "flag = 1", "flag = \"true\"",
                           "ratio = \"0.5\"", "ratio = true", "text = 5", "text = [\"a\"]", "text = 2000-01-01",
                           "file = 5", "sizes = 1", "names = \"a\"", "dtype = {}"}) {
    INFO(line);
    const auto found = findings(pipeline(line));
    REQUIRE(found.size() == 1);
    CHECK(found[0].starts_with("P016 6:"));
  }
}

TEST_CASE("the elements of a list are checked one by one") {
  Workspace workspace;
  CHECK(findings(pipeline("sizes = [1, \"a\", 2.5]")) == Strings{"P016 6:13", "P016 6:18"});
  CHECK(findings(pipeline("files = [\"no\", \"\", \"nor\"]")) == Strings{"P019 6:10", "P019 6:20"});
}

TEST_CASE("limits are inclusive, and NaN is outside every range") {
  Workspace workspace;
  for (const auto* line : {"count = 1", "count = 8", "ratio = 0", "ratio = 1.0"})
    CHECK(findings(pipeline(line)).empty());
  for (const auto* line : {"count = 0", "count = 9", "ratio = -0.1", "ratio = 2", "ratio = nan", "ratio = inf"}) {
    INFO(line);
    CHECK(findings(pipeline(line)) == Strings{"P017 6:9"});
  }
  for (const auto* line : {"floor = nan", "ceiling = nan"}) {
    INFO(line);
    CHECK(findings(pipeline(std::string("size = 1\n") + line, "test.required")).size() == 1);
  }
}

TEST_CASE("a choice must be one of them, with the nearest named") {
  Workspace workspace;
  const auto result = plan(pipeline("dtype = \"bfloat61\""));
  CHECK(findings(result) == Strings{"P018 6:9"});
  CHECK(result.diagnostics.front().did_you_mean == "bfloat16");
  CHECK(findings(pipeline("dtype = \"Float32\"")) == Strings{"P018 6:9"});
}

TEST_CASE("a parameter without a default is required") {
  Workspace workspace;
  CHECK(findings(pipeline("", "test.required")) == Strings{"P015 3:6"});
  CHECK(findings(pipeline("size = 3", "test.required")).empty());
}

TEST_CASE("a required parameter under a misspelt name is one mistake, not two") {
  Workspace workspace;
  const auto result = plan(pipeline("szie = 3", "test.required"));
  CHECK(findings(result) == Strings{"P014 6:1"});
  CHECK(result.diagnostics.front().did_you_mean == "size");
  CHECK(findings(pipeline("zzzzz = 3", "test.required")) == Strings{"P015 3:6", "P014 6:1"});
}

TEST_CASE("every unknown parameter is named, with the nearest known one") {
  Workspace workspace;
  const auto result = plan(pipeline("conut = 1\nzzz = 1"));
  CHECK(findings(result) == Strings{"P014 6:1", "P014 7:1"});
  CHECK(result.diagnostics[0].did_you_mean == "count");
  CHECK(result.diagnostics[1].did_you_mean.empty());
}

TEST_CASE("a path must exist and be what the parameter says") {
  Workspace workspace;
  Workspace::write("f.txt", "");
  std::filesystem::create_directories("d");
  CHECK(findings(pipeline("file = \"no\"\nfolder = \"f.txt\"")) == Strings{"P019 6:8", "P019 7:10"});
  CHECK(findings(pipeline("file = \"d\"")) == Strings{"P019 6:8"});
  CHECK(findings(pipeline("file = \"f.txt\\u0000\"")) == Strings{"P019 6:8"});
  CHECK(findings(pipeline("file = \"" + std::string(5000, 'x') + "\"")) == Strings{"P019 6:8"});
}

TEST_CASE("an empty path means not given") {
  Workspace workspace;
  CHECK(value_of("file = \"\"", "file") == Value());
  CHECK(parameter(plan(pipeline("file = \"no\""), {.sets = {"step.p.with.file="}}), "p", "file").value == Value());
}

TEST_CASE("a path is relative to the file that its leading piece comes from") {
  Workspace workspace;
  Workspace::write("here/data/f.txt", "");
  Workspace::write("there/data/f.txt", "");
  Workspace::write("data/f.txt", "");
  const auto path = [](const std::string& vars, const std::string& file, const std::string& overlay = "",
                       const Strings& sets = {}) {
    Workspace::write("here/p.toml", "schema = 1\n[vars]\n" + vars +
                                        "\n[[step]]\nid = \"p\"\nuses = \"test.params\"\nwith.file = \"" + file +
                                        "\"\n");
    PipelineRequest request{.file = "here/p.toml", .configs = {}, .sets = sets, .skips = {}};
    if (!overlay.empty()) request.configs.emplace_back(Workspace::write("there/o.toml", overlay));
    FakeCatalog catalog;
    const auto result = make_plan(request, catalog);
    INFO(rendered(result));
    REQUIRE(result.ok());
    return std::get<std::string>(parameter(result, "p", "file").value.data);
  };
  CHECK(path("d = \"data\"", "data/f.txt") == "here/data/f.txt");
  CHECK(path("d = \"data\"", "${d}/f.txt") == "here/data/f.txt");
  CHECK(path("d = \"data\"", "${d}/f.txt", "vars.d = \"data\"") == "there/data/f.txt");
  CHECK(path("d = \"data\"", "${d}/f.txt", "vars.d = \"data\"", {"d=data"}) == "data/f.txt");
  CHECK(path("f = \"f\"", "data/${f}.txt", "vars.f = \"f\"") ==
        "here/data/f.txt");  // the leading piece is the pipeline's
  CHECK(path("d = \"${e}\"\ne = \"data\"", "${d}/f.txt", "vars.e = \"data\"") == "there/data/f.txt");
  CHECK(path("x = 1", "no", "step.p.with.file = \"data/f.txt\"") == "there/data/f.txt");
  CHECK(path("x = 1", "no", "", {"step.p.with.file=data/f.txt"}) == "data/f.txt");
  const auto absolute = std::filesystem::absolute("data/f.txt").string();
  CHECK(path("x = 1", absolute) == absolute);
}

TEST_CASE("an explicit plugin file is a path like any other") {
  Workspace workspace;
  Workspace::write("here/p.toml", "schema = 1\n[[step]]\nid = \"p\"\nuses = \"test.params\"\nplugin = \"lib/p.so\"\n");
  FakeCatalog catalog;
  CHECK(make_plan({.file = "here/p.toml", .configs = {}, .sets = {}, .skips = {}}, catalog).ok());
  CHECK(
      make_plan({.file = "here/p.toml", .configs = {}, .sets = {"step.p.plugin=lib/p.so"}, .skips = {}}, catalog).ok());
  CHECK(make_plan({.file = "here/p.toml", .configs = {}, .sets = {"step.p.plugin="}, .skips = {}}, catalog).ok());
  CHECK(catalog.plugins_asked_for == Strings{"here/lib/p.so", "lib/p.so"});
}

TEST_CASE("a rule between parameters is reported at the value that it is about, or at the step") {
  Workspace workspace;
  CHECK(findings(pipeline("low = 7\nhigh = 6", "test.rules")) == Strings{"P020 7:8"});
  CHECK(findings(pipeline("low = 12", "test.rules")) == Strings{"P020 3:6"});
  CHECK(findings(pipeline("low = 12\nhigh = \"x\"", "test.rules")) ==
        Strings{"P016 7:8"});  // no rule is asked about wrong values
}

TEST_CASE("a step whose rules or constructor throw is diagnosed") {
  Workspace workspace;
  const auto thrown = plan(pipeline("", "test.throws"));
  CHECK(findings(thrown) == Strings{"P021 3:6"});
  CHECK(thrown.diagnostics.front().message.find("no such layer") != std::string::npos);
  CHECK(findings(pipeline("", "test.foreign")) == Strings{"P021 3:6"});
  const auto exploded = plan(pipeline("", "test.explodes"));
  CHECK(findings(exploded) == Strings{"P021 4:8"});
  CHECK(exploded.diagnostics.front().message.find("out of fuel") != std::string::npos);
  CHECK(exploded.exit_code() == 3);
}
