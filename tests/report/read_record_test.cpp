#include "report/read_record.hpp"

#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "catch.hpp"
#include "golden.hpp"
#include "pipeline/render_diagnostic.hpp"
#include "records.hpp"
#include "report/json.hpp"
#include "report/terminal.hpp"
#include "safetensors/files.hpp"

using namespace lockstep;
using namespace lockstep::test;
using Json = nlohmann::ordered_json;

namespace {

std::string content(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  REQUIRE(stream.is_open());
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The message of the Error that reading `text` gives, "" if it is read.
std::string problem_of(const std::string& text) {
  try {
    static_cast<void>(read_record(text, "run.json"));
    return {};
  } catch (const Error& error) {
    CHECK(error.diagnostic().code == "F003");
    return render(error.diagnostic(), false);
  }
}

/// Records of every kind of value, from a fixed seed.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  RunRecord run() {
    RunRecord record;
    record.pipeline_name = text();
    record.pipeline_file = text();
    record.pipeline_sha256 = text();
    record.overrides = {text(), text()};
    record.config_sha256 = {text()};
    record.selection = {text(), text()};
    record.run_id = text();
    record.environment = fields();
    record.verdict = static_cast<RunVerdict>(below(7));
    record.exit_code = below(7);
    if (coin()) record.message = text();
    record.seconds = number();
    record.peak_rss_bytes = integer();
    record.peak_private_bytes = integer();
    if (coin())
      record.baseline = BaselineRecord{text(), text(), integer(), {text()}, {finding()}, {}, {finding()}, maybe()};
    for (int i = below(3); i > 0; --i) record.diagnostics.push_back(diagnostic());
    for (int i = below(4); i > 0; --i) record.steps.push_back(step());
    return record;
  }

 private:
  int below(int end) { return std::uniform_int_distribution<int>(0, end - 1)(random_); }
  bool coin() { return below(2) == 0; }
  std::int64_t integer() { return coin() ? below(5) : static_cast<std::int64_t>(random_()); }
  std::string text() {
    static const std::vector<std::string> texts{
        "",           "a",        "layer 3",     "nan", "-inf",  "quote \" backslash \\",
        "two\nlines", "\x01\x7f", "caf\xc3\xa9", "💥",   "\xff!", "</script><b>",
        "steps[0]/~1"};
    return texts[static_cast<std::size_t>(below(static_cast<int>(texts.size())))];
  }
  double number() {
    constexpr auto infinity = std::numeric_limits<double>::infinity();
    static const std::vector<double> numbers{
        0.0,          -0.0,     1.0,       -5.0,      0.1 + 0.2, 1e300, 5e-324, 9007199254740993.0,
        std::nan(""), infinity, -infinity, 1.0 / 3.0, 123456.0};
    return numbers[static_cast<std::size_t>(below(static_cast<int>(numbers.size())))];
  }
  Value value(int depth = 0) {
    switch (below(depth < 3 ? 7 : 5)) {
      case 0:
        return {};
      case 1:
        return coin();
      case 2:
        return integer();
      case 3:
        return number();
      case 4:
        return text();
      case 5: {
        Value::Array list;
        for (int i = below(3); i > 0; --i) list.push_back(value(depth + 1));
        return list;
      }
      default: {
        Value::Table table;
        for (int i = below(3); i > 0; --i) table.emplace_back("key" + std::to_string(i), value(depth + 1));
        return table;
      }
    }
  }
  std::vector<std::pair<std::string, Value>> fields() {
    std::vector<std::pair<std::string, Value>> result;
    for (int i = below(4); i > 0; --i) result.emplace_back(text() + std::to_string(i), value());
    return result;
  }
  std::optional<std::string> maybe() { return coin() ? std::optional(text()) : std::nullopt; }
  Location location() {
    if (coin()) return {};
    return {std::make_shared<const SourceText>(SourceText{text(), "line\n"}), static_cast<std::size_t>(below(3)),
            static_cast<std::size_t>(below(3))};
  }
  Diagnostic diagnostic() {
    Diagnostic result{
        .code = text(), .message = text(), .location = location(), .did_you_mean = text(), .help = text()};
    if (coin()) result.severity = Severity::warning;
    for (int i = below(3); i > 0; --i) result.notes.push_back({text(), location()});
    return result;
  }
  BaselineRecord::Finding finding() { return {text(), text(), maybe(), text()}; }
  CheckResult check() {
    CheckResult result;
    result.name = text();
    result.subject = maybe();
    result.metric = static_cast<Metric>(below(17));
    result.level = static_cast<Level>(below(3));
    if (coin()) result.verdict = static_cast<Verdict>(below(4));
    result.on_vacuous = static_cast<OnVacuous>(below(3));
    if (coin()) result.value = number();
    for (auto* key : {&result.bound.rtol, &result.bound.atol, &result.bound.max, &result.bound.min, &result.bound.k})
      if (coin()) *key = number();
    result.bound_source = text();
    result.compared = integer();
    result.mismatched = integer();
    result.ladder = maybe();
    result.message = maybe();
    result.expected = text();
    for (int i = below(3); i > 0; --i) result.statistics.emplace_back("s" + std::to_string(i), number());
    if (coin()) result.worst = CheckResult::Worst{{integer(), integer()}, value(), value()};
    return result;
  }
  OutputRecord output(const std::string& name) {
    OutputRecord result{name, text(), {}};
    for (int i = below(4); i > 0; --i)
      result.tensors.push_back({i == 2 ? "" : "t" + std::to_string(i), static_cast<DType>(below(18)), {integer()}});
    return result;
  }
  StepRecord step() {
    StepRecord result;
    result.id = text();
    result.uses = text();
    result.location = text();
    result.plugin_file = text();
    result.build_id = text();
    result.scored = coin();
    if (coin()) result.status = static_cast<StepStatus>(below(7));
    result.reason = maybe();
    result.help = maybe();
    result.summary = maybe();
    result.seconds = number();
    result.peak_rss_bytes = integer();
    result.peak_private_bytes = integer();
    result.parameters = fields();
    for (int i = below(3); i > 0; --i) result.inputs.emplace_back("in" + std::to_string(i), text());
    for (int i = below(3); i > 0; --i) result.outputs.push_back(output("out" + std::to_string(i)));
    for (int i = below(3); i > 0; --i) result.checks.push_back(check());
    result.extra = fields();
    return result;
  }

  std::mt19937 random_;
};

/// The pointers to every value of a document.
std::vector<Json::json_pointer> places_in(const Json& document) {
  std::vector<Json::json_pointer> places;
  const auto flat = document.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    for (Json::json_pointer place(pointer); !place.empty(); place = place.parent_pointer()) {
      if (std::ranges::find(places, place) != places.end()) break;
      places.push_back(place);
    }
  }
  return places;
}

/// One of everything, small enough to be broken at each byte.
RunRecord small() {
  auto run = example();
  run.steps.erase(run.steps.begin(), run.steps.begin() + 4);
  run.steps[2].plugin_file = "mm_fusion.so";
  run.steps[2].location = "pipelines/gemma4.toml:40:1";
  run.steps[2].extra = {{"not_compared", Value::Array{"lm_head"}}};
  run.overrides = {"--set max_seq=160"};
  Diagnostic finding{.code = "P014", .message = "no such parameter", .did_you_mean = "max_seq"};
  finding.location = {std::make_shared<const SourceText>(SourceText{"a.toml", "x\n"}), 1, 1, 1};
  finding.notes.push_back({"declared here", {}});
  run.diagnostics.push_back(finding);
  run.baseline = BaselineRecord{
      "base.toml", "00ff", 3,          {"a note"}, {{"mm_fusion", "matches_reference", "layer 3", "worse"}},
      {},          {},     "tightened"};
  return run;
}

/// A summary with a row that failed in each way.
RunRecord rows() {
  RunRecord run;
  run.matrix = {"dtype=float32"};
  run.verdict = RunVerdict::fail;
  run.exit_code = 1;
  run.rows = {{.row = {"dtype=float32", {{"dtype", "float32"}}}, .verdict = RunVerdict::fail, .exit_code = 1}};
  run.rows->front().failures = {{"FAIL", "mm_fusion", "matches layer 3", "far\nworst at [0]", "p.toml:9:3"},
                                {"ERROR", "", "S004", "a dump cannot be written", ""}};
  run.rows->front().more_failures = 7;
  return run;
}

}  // namespace

TEST_CASE("a record that is read and written again is the same text") {
  for (const auto& run : {example(), small(), rows(), RunRecord{}})
    CHECK(to_json(read_record(to_json(run), "run.json")) == to_json(run));
  for (unsigned seed = 0; seed < 500; ++seed) {
    const auto text = to_json(Generator(seed).run());
    INFO("seed " << seed << "\n" << text);
    REQUIRE(to_json(read_record(text, "run.json")) == text);
  }
}

TEST_CASE("a record of the program is read without losing a field") {
  const auto text = content(std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "tests/cli/golden/record.json");
  CHECK(to_json(read_record(text, "record.json")) == text);
}

TEST_CASE("a record that was read gives the terminal report of the run") {
  for (const auto detail : {Detail::quiet, Detail::normal, Detail::verbose}) {
    const TerminalStyle style{false, detail};
    CHECK(terminal_report(read_record(to_json(example()), "run.json"), style) == terminal_report(example(), style));
  }
}

TEST_CASE("the worst element's infinities are numbers again") {
  auto run = example();
  auto& worst = *run.steps[6].checks[0].worst;
  worst.actual = -std::numeric_limits<double>::infinity();
  CHECK(read_record(to_json(run), "run.json").steps[6].checks[0].worst->actual == worst.actual);
}

TEST_CASE("fields that later versions add are kept in steps and do no harm elsewhere") {
  auto document = Json::parse(to_json(example()));
  document["later"] = {1, 2};
  document["steps"][6]["later"] = {{"a", 1}};
  document["steps"][6]["checks"][0]["later"] = "x";
  const auto run = read_record(document.dump(), "run.json");
  CHECK(run.steps[6].extra == std::vector<std::pair<std::string, Value>>{{"later", Value::Table{{"a", 1}}}});
  CHECK(run.steps[5].extra.empty());
}

TEST_CASE("a record of before the fields that were added since is read") {
  auto document = Json::parse(to_json(example()));
  document.erase("message");
  document.erase("baseline");
  for (auto& step : document["steps"]) {
    for (const auto* key : {"location", "help", "summary"}) step.erase(key);
    for (auto& check : step["checks"]) check.erase("on_vacuous");
  }
  CHECK(read_record(document.dump(), "run.json").steps.size() == 8);
}

TEST_CASE("a record that was cut off is never read") {
  const auto text = to_json(small());
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    INFO(size);
    const auto problem = problem_of(text.substr(0, size));
    REQUIRE(problem.find("the document ends too early") != std::string::npos);
  }
}

TEST_CASE("whatever stands at whatever place, reading gives a record or says what is wrong") {
  const auto document = Json::parse(to_json(small()));
  const std::vector<Json> intruders{nullptr,
                                    true,
                                    -1,
                                    1.5,
                                    18446744073709551615U,
                                    "",
                                    "text",
                                    Json::array(),
                                    Json::object(),
                                    Json::parse("[[1],{}]"),
                                    Json::parse(R"({"a":[null]})")};
  const auto places = places_in(document);
  CHECK(places.size() > 200);
  std::size_t refused = 0;
  for (const auto& place : places) {
    for (const auto& intruder : intruders) {
      auto changed = document;
      changed[place] = intruder;
      const auto text = changed.dump();
      INFO(place.to_string() << " = " << intruder.dump());
      try {
        const auto once = to_json(read_record(text, "run.json"));
        REQUIRE(to_json(read_record(once, "run.json")) == once);
      } catch (const Error& error) {
        REQUIRE(error.diagnostic().code == "F003");
        ++refused;
      }
    }
    auto lacking = document;
    if (lacking[place.parent_pointer()].is_object()) lacking[place.parent_pointer()].erase(place.back());
    static_cast<void>(problem_of(lacking.dump()));
  }
  CHECK(refused > places.size() * 4);
}

TEST_CASE("what is wrong with a record is said with its place") {
  const auto text = to_json(example());
  const auto changed = [&text](const std::string& pointer, const Json& value) {
    auto document = Json::parse(text);
    document[Json::json_pointer(pointer)] = value;
    return problem_of(document.dump());
  };
  const auto without = [&text](const std::string& pointer, const std::string& key) {
    auto document = Json::parse(text);
    document[Json::json_pointer(pointer)].erase(key);
    return problem_of(document.dump());
  };
  std::string all;
  for (const auto& problem : {problem_of(""),
                              problem_of("[1, 2]"),
                              problem_of("{}"),
                              problem_of("{\"schema\": 1,\n \"tool\": <html>}"),
                              problem_of(std::string(200, '[')),
                              problem_of("[1e999]"),
                              problem_of(text.substr(0, text.find("\"cpu_cap"))),
                              changed("/schema", 2),
                              changed("/verdict", "ok"),
                              changed("/exit_code", 7),
                              changed("/steps", Json::object()),
                              changed("/steps/2", "runtime"),
                              changed("/steps/6/scored", "yes"),
                              changed("/steps/6/checks/0/metric", "distance"),
                              changed("/steps/6/checks/0/value", "much"),
                              changed("/steps/6/checks/0/worst/index/1", 2.5),
                              changed("/steps/6/checks/0/compared", 18446744073709551615U),
                              changed("/steps/4/outputs/batch/tensors/input_ids/dtype", "int63"),
                              without("/steps/6/checks/0", "verdict"),
                              without("/pipeline", "sha256")})
    all += problem + "\n";
  golden::check("report/golden/read_record.txt", all);
}

TEST_CASE("a file that is no record is named") {
  const TemporaryFolder folder;
  const auto problem = [](const std::filesystem::path& file) -> std::string {
    try {
      static_cast<void>(read_record_file(file));
      return {};
    } catch (const Error& error) {
      return error.what();
    }
  };
  CHECK(problem(folder / "none.json").find("none.json' cannot be read: No such file or directory") !=
        std::string::npos);
  CHECK(problem(folder.path()).find("cannot be read: Is a directory") != std::string::npos);
  std::ofstream(folder / "run.json") << to_json(example());
  CHECK(to_json(read_record_file(folder / "run.json")) == to_json(example()));
}

TEST_CASE("a step that is read and written again is the same text") {
  for (const auto& step : example().steps)
    CHECK(step_to_json(read_step(step_to_json(step), "step.json")) == step_to_json(step));
  CHECK_THROWS_AS(read_step("{}", "step.json"), Error);
}

TEST_CASE("a field that a record has twice is refused, at any depth") {
  auto text = to_json(example());
  CHECK(problem_of(text).empty());
  const auto twice = golden::replaced(text, "  \"verdict\": \"fail\",\n  \"exit_code\"",
                                      "  \"verdict\": \"fail\",\n  \"verdict\": \"pass\",\n  \"exit_code\"");
  REQUIRE(twice != text);
  CHECK_THAT(problem_of(twice), contains_text("an object has the field 'verdict' twice"));
  const auto deep = golden::replaced(text, "\"id\": \"mm_fusion\"", "\"id\": \"a\", \"id\": \"mm_fusion\"");
  REQUIRE(deep != text);
  CHECK_THAT(problem_of(deep), contains_text("an object has the field 'id' twice"));
}
