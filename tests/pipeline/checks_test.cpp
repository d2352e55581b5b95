#include "catch.hpp"
#include "workspace.hpp"

using namespace lockstep;
using namespace lockstep::test;

namespace {

/// The lines stand from line 8 on.
std::string pipeline(const std::string& lines) {
  return "schema = 1\n[[step]]\nid = \"s\"\nuses = \"test.source\"\n[[step]]\nid = \"r\"\nuses = \"test.reader\"\n" +
         lines + "\n";
}

}  // namespace

TEST_CASE("a check that is not mentioned keeps what the step declares") {
  Workspace workspace;
  const auto result = plan(pipeline(""));
  REQUIRE(result.ok());
  CHECK(check(result, "r", "near").bound == Bound{});
  CHECK(check(result, "r", "nearer").bound == Bound{.rtol = 1e-3, .atol = 1e-5});
  CHECK(check(result, "r", "error").level == Level::inform);
  CHECK(check(result, "r", "error").bound_source == "default");
  CHECK(check(result, "r", "near").non_finite == NonFinite::fail);
  CHECK(check(result, "r", "near").on_vacuous == OnVacuous::fail);
}

TEST_CASE("bounds, level, on_vacuous and non_finite are set one by one") {
  Workspace workspace;
  const auto result = plan(pipeline(
      "checks.error = { max = 0.02, level = \"require\" }\nchecks.same = { level = \"off\", on_vacuous = \"allow\" }\n"
      "checks.near = { non_finite = \"match\", on_vacuous = \"warn\", level = \"inform\" }"));
  INFO(rendered(result));
  REQUIRE(result.ok());
  CHECK(check(result, "r", "error").bound.max == 0.02);
  CHECK(check(result, "r", "error").level == Level::require);
  CHECK(check(result, "r", "error").bound_source == "pipeline.toml:8:24");
  CHECK(check(result, "r", "same").level == Level::off);
  CHECK(check(result, "r", "same").on_vacuous == OnVacuous::allow);
  CHECK(check(result, "r", "same").bound_source == "default");
  CHECK(check(result, "r", "near").non_finite == NonFinite::match);
  CHECK(check(result, "r", "near").on_vacuous == OnVacuous::warn);
}

TEST_CASE("the source of a bound is where its value stands, even through a variable or an argument") {
  Workspace workspace;
  const auto source = [](const std::string& line, const Strings& sets = {}) {
    return check(plan("schema = 1\nvars.m = 0.5\n" + pipeline(line).substr(11), {.sets = sets}), "r", "error")
        .bound_source;
  };
  CHECK(source("checks.error.max = \"${m}\"") == "pipeline.toml:2:10");
  CHECK(source("", {"step.r.checks.error.max=0.5"}) == "--set step.r.checks.error.max");
  const auto two = plan(pipeline("checks.near = { atol = 0, rtol = 1 }"));
  CHECK(check(two, "r", "near").bound_source == "pipeline.toml:8:24");  // the first in the order of writing
}

TEST_CASE("an unknown check is named, with the nearest known one") {
  Workspace workspace;
  const auto result = plan(pipeline("checks.eror.max = 1\nchecks.zzzzzz = {}"));
  CHECK(findings(result) == Strings{"P050 8:8", "P050 9:8"});
  CHECK(result.diagnostics.front().did_you_mean == "error");
}

TEST_CASE("a check takes the keys of its metric only") {
  Workspace workspace;
  CHECK(findings(pipeline("checks.same.max = 1")) == Strings{"P051 8:13"});
  CHECK(findings(pipeline("checks.near.max = 1")) == Strings{"P051 8:13"});
  CHECK(findings(pipeline("checks.agreement = { k = 3, min = 0.5 }")).empty());
  const auto result = plan(pipeline("checks.error.lvel = \"off\""));
  CHECK(findings(result) == Strings{"P051 8:14"});
  CHECK(result.diagnostics.front().did_you_mean == "level");
  CHECK(findings(pipeline("checks.error.atol = 1")).empty());  // what peir falls back to
}

TEST_CASE("level, on_vacuous and non_finite take their words only") {
  Workspace workspace;
  const auto result =
      plan(pipeline("checks.near = { level = \"requires\", on_vacuous = true, non_finite = \"pass\" }"));
  CHECK(findings(result) == Strings{"P052 8:25", "P052 8:50", "P052 8:69"});
  CHECK(result.diagnostics.front().did_you_mean == "require");
}

TEST_CASE("a bound is a finite number that is not negative") {
  Workspace workspace;
  for (const auto* value : {"-0.1", "nan", "inf", "-inf", "\"0.1\"", "true", "[1]"}) {
    INFO(value);
    CHECK(findings(pipeline(std::string("checks.error.max = ") + value)) == Strings{"P053 8:20"});
  }
  CHECK(findings(pipeline("checks.error.max = 0")).empty());
}

TEST_CASE("a share is at most 1, k of topk a positive integer") {
  Workspace workspace;
  CHECK(findings(pipeline("checks.agreement = { k = 0, min = 1.5 }")) == Strings{"P053 8:26", "P053 8:35"});
  CHECK(findings(pipeline("checks.agreement = { k = 1.5 }")) == Strings{"P053 8:26"});
  CHECK(findings(pipeline("checks.agreement = { k = 2.0, min = 1 }")).empty());
}

TEST_CASE("rtol and atol come together") {
  Workspace workspace;
  CHECK(findings(pipeline("checks.near.rtol = 0.1")) == Strings{"P054 8:20"});
  CHECK(findings(pipeline("checks.near.atol = 0.1")) == Strings{"P054 8:20"});
  CHECK(findings(pipeline("checks.near = { rtol = 0.1, atol = 0 }")).empty());
  CHECK(findings(pipeline("checks.near.rtol = -1")) == Strings{"P053 8:20"});  // one mistake, one error
  // the step declares both, so the other one is known
  CHECK(check(plan(pipeline("checks.nearer.rtol = 0.1")), "r", "nearer").bound == Bound{.rtol = 0.1, .atol = 1e-5});
}

TEST_CASE("checks and each check are tables") {
  Workspace workspace;
  CHECK(findings(pipeline("checks = 1")) == Strings{"P008 8:10"});
  CHECK(findings(pipeline("checks.near = \"off\"")) == Strings{"P008 8:15"});
}
