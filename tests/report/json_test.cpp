#include "report/json.hpp"

#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "records.hpp"
#include "report/output.hpp"
#include "safetensors/files.hpp"

using namespace lockstep;
using namespace lockstep::test;
using nlohmann::json;

TEST_CASE("the record has every field of schema 1") {
  auto run = example();
  Diagnostic finding;
  finding.code = "P014";
  finding.message = "no such parameter";
  finding.location = {std::make_shared<const SourceText>(SourceText{"a.toml", "x\n"}), 1, 1, 1};
  finding.did_you_mean = "max_seq";
  finding.notes.push_back({"declared here", {}});
  finding.help = "correct it";
  run.diagnostics.push_back(finding);
  const auto record = json::parse(to_json(run));
  // The list of fields is the documented schema, see docs/record.md.
  for (const auto* key : {"schema", "tool", "pipeline", "environment", "verdict", "exit_code", "seconds",
                          "peak_rss_bytes", "peak_private_bytes", "diagnostics", "steps"})
    CHECK(record.contains(key));
  CHECK(record.at("schema") == 1);
  CHECK(record.at("tool").at("name") == "lockstep");
  CHECK(record.at("environment").at("threads") == 2);
  for (const auto* key : {"name", "file", "sha256", "overrides"}) CHECK(record.at("pipeline").contains(key));

  const auto& fusion = record.at("steps").at(6);
  for (const auto* key : {"id", "uses", "plugin", "scored", "status", "reason", "seconds", "peak_rss_bytes",
                          "peak_private_bytes", "parameters", "inputs", "outputs", "checks"})
    CHECK(fusion.contains(key));
  CHECK(fusion.at("reason").is_null());
  CHECK(fusion.at("status") == "fail");
  CHECK(record.at("steps").at(7).at("status") == "skipped");
  CHECK(record.at("steps").at(7).at("reason") == "not built yet");

  const auto& check = fusion.at("checks").at(0);
  for (const auto* key : {"name", "subject", "metric", "level", "verdict", "value", "bound", "bound_source", "compared",
                          "mismatched", "ladder", "message", "expected", "statistics", "worst"})
    CHECK(check.contains(key));
  CHECK(check.at("subject").is_null());
  CHECK(check.at("value").is_null());
  CHECK(check.at("bound") == json::object());
  CHECK(check.at("worst") == json{{"index", {0, 65, 3}}, {"expected", -0.4130859375}, {"actual", 0.3984375}});
  CHECK(check.at("statistics") == json{{"max_abs", 0.8115234375}});

  const auto& embedding = record.at("steps").at(4);
  CHECK(embedding.at("inputs") == json{{"batch", "build_static_inputs.batch"}});
  CHECK(embedding.at("outputs").at("text_embeds") ==
        json{{"type", "lockstep.tensor/1"}, {"dtype", "bfloat16"}, {"shape", {1, 160, 128}}});
  CHECK(embedding.at("outputs").at("batch").at("tensors").at("input_ids") ==
        json{{"dtype", "int64"}, {"shape", {1, 160}}});
  CHECK(embedding.at("checks").at(0).at("bound") == json{{"rtol", 0.016}, {"atol", 1e-5}});

  const auto& diagnostic = record.at("diagnostics").at(0);
  CHECK(diagnostic ==
        json{{"severity", "error"},
             {"code", "P014"},
             {"message", "no such parameter"},
             {"file", "a.toml"},
             {"line", 1},
             {"column", 1},
             {"did_you_mean", "max_seq"},
             {"help", "correct it"},
             {"notes", {{{"message", "declared here"}, {"file", nullptr}, {"line", nullptr}, {"column", nullptr}}}}});
}

TEST_CASE("numbers that JSON lacks are texts") {
  constexpr auto infinity = std::numeric_limits<double>::infinity();
  auto run = example();
  auto& check = run.steps[6].checks[0];
  check.value = infinity;
  check.statistics = {{"max_abs", std::numeric_limits<double>::quiet_NaN()}, {"min", -infinity}};
  check.worst->actual = -infinity;
  const auto record = json::parse(to_json(run));
  const auto& written = record.at("steps").at(6).at("checks").at(0);
  CHECK(written.at("value") == "inf");
  CHECK(written.at("statistics").at("max_abs") == "nan");
  CHECK(written.at("statistics").at("min") == "-inf");
  CHECK(written.at("worst").at("actual") == "-inf");
}

TEST_CASE("a double survives writing and reading bit for bit") {
  auto run = example();
  run.steps[6].checks[0].value = 0.1 + 0.2;
  const auto record = json::parse(to_json(run));
  CHECK(record.at("steps").at(6).at("checks").at(0).at("value").get<double>() == 0.1 + 0.2);
}

TEST_CASE("a step's own fields are added beside the record's, each of which is known as one that no step may set") {
  auto run = example();
  run.steps[0].extra = {{"not_compared", Value::Array{"lm_head"}}};
  run.steps[0].isolated = true;
  run.steps[0].output_tail = {"last words"};
  const auto step = json::parse(to_json(run)).at("steps").at(0);
  CHECK(step.at("not_compared") == json{"lm_head"});
  for (const auto& [key, value] : step.items()) CHECK(is_field_of_step(key) == (key != "not_compared"));
}

TEST_CASE("a step that has not ended has no status") {
  auto run = example();
  run.verdict = RunVerdict::incomplete;
  run.steps[7].status.reset();
  const auto record = json::parse(to_json(run));
  CHECK(record.at("verdict") == "incomplete");
  CHECK(record.at("steps").at(7).at("status").is_null());
}

TEST_CASE("the record that grows with the run is the document of the moment, whole, after every step") {
  const TemporaryFolder folder;
  const auto file = folder / "record.json";
  const auto written = [&] {
    std::ifstream stream(file);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  const auto end = example();
  auto run = end;
  run.verdict = RunVerdict::incomplete;
  for (auto& step : run.steps) step = StepRecord{.id = step.id, .uses = step.uses};
  IncrementalRecord record{ReportTarget(file.string())};
  record.run_started(run);
  CHECK(written() == to_json(run));
  std::string before;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    INFO(end.steps[i].id);
    run.steps[i] = end.steps[i];
    run.seconds += 1;
    record.step_finished(run, i);
    const bool skipped = run.steps[i].status == StepStatus::skipped;  // nobody waits for those
    CHECK(written() == (skipped ? before : to_json(run)));
    before = written();
  }
}

TEST_CASE("a record of no steps is a whole document too") {
  auto run = example();
  run.steps.clear();
  CHECK(json::parse(to_json(run)).at("steps") == json::array());
}

TEST_CASE("bytes that are no UTF-8 do not make the record unreadable") {
  auto run = example();
  run.steps[0].summary = "caf\xe9";
  CHECK(json::parse(to_json(run)).at("steps").at(0).at("summary") == "caf\xEF\xBF\xBD");
}
