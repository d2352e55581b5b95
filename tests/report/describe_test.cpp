#include "report/describe.hpp"

#include <nlohmann/json.hpp>

#include "catch.hpp"

using namespace lockstep;

namespace {

StepDescription example() {
  return {.name = "gemma4.vision_prefill",
          .summary = "compares a | b",
          .inputs = {{"batch", "gemma4.static_batch/1", "padded inputs", false},
                     {"visual", "lockstep.tensor/1", "[V, H]", true}},
          .outputs = {},
          .parameters = {{.name = "max_seq",
                          .kind = ParamKind::integer,
                          .doc = "padded prompt length",
                          .unit = "tokens",
                          .default_value = std::nullopt,
                          .min = Value(1),
                          .max = std::nullopt},
                         {.name = "dtype",
                          .kind = ParamKind::text,
                          .doc = "computing dtype",
                          .default_value = Value("bfloat16"),
                          .min = std::nullopt,
                          .max = std::nullopt,
                          .choices = {"bfloat16", "float32"}},
                         {.name = "scales",
                          .kind = ParamKind::real,
                          .list = true,
                          .optional = true,
                          .doc = "a|b",
                          .default_value = std::nullopt,
                          .min = Value(0.0),
                          .max = Value(1.0)}},
          .checks = {{"matches", close(0.016, 1e-5), Level::require, "the eager model"},
                     {"peir_vs_float", peir(0.02), Level::inform, "the float reference"}}};
}

}  // namespace

TEST_CASE("a parameter's line says its type, range, unit and whether it must be given") {
  const auto step = example();
  CHECK(constraint_text(step.parameters[0]) == "integer, at least 1, in tokens, required");
  CHECK(constraint_text(step.parameters[1]) == "text, one of bfloat16, float32, default \"bfloat16\"");
  CHECK(constraint_text(step.parameters[2]) == "list of real, 0.0 to 1.0, optional");
}

TEST_CASE("a page shows tables for what a step has and nothing for what it lacks") {
  CHECK(describe_markdown(example()) ==
        "# gemma4.vision_prefill\n"
        "\n"
        "compares a | b\n"
        "\n"
        "## Inputs\n"
        "\n"
        "| port | type | meaning |\n"
        "| --- | --- | --- |\n"
        "| `batch` | gemma4.static_batch/1 | padded inputs |\n"
        "| `visual` | lockstep.tensor/1 | [V, H] (optional) |\n"
        "\n"
        "## Parameters\n"
        "\n"
        "| name | value | meaning |\n"
        "| --- | --- | --- |\n"
        "| `max_seq` | integer, at least 1, in tokens, required | padded prompt length |\n"
        "| `dtype` | text, one of bfloat16, float32, default \"bfloat16\" | computing dtype |\n"
        "| `scales` | list of real, 0.0 to 1.0, optional | a\\|b |\n"
        "\n"
        "## Checks\n"
        "\n"
        "| name | criterion | level | compared with |\n"
        "| --- | --- | --- | --- |\n"
        "| `matches` | close (rtol 0.016, atol 1e-05) | require | the eager model |\n"
        "| `peir_vs_float` | peir (max 0.02) | inform | the float reference |\n");
}

TEST_CASE("the JSON description says the same") {
  const auto json = nlohmann::json::parse(describe_json(example()));
  CHECK(json.at("parameters").at(0).at("required") == true);
  CHECK(json.at("parameters").at(1).at("choices") == nlohmann::json{"bfloat16", "float32"});
  CHECK(json.at("parameters").at(2).at("list") == true);
  CHECK(json.at("checks").at(1).at("bound") == nlohmann::json{{"max", 0.02}});
  CHECK(json.at("inputs").at(1).at("optional") == true);
}
