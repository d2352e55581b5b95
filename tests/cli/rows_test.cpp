// The rows of a matrix: processes, shards, summaries.

#include <csignal>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>

#include "catch.hpp"
#include "cli/cli.hpp"

using Json = nlohmann::json;

namespace {

constexpr const char* pipeline = "pipelines/rows.toml";

Json read(const std::string& file) {
  std::ifstream stream(file);
  return Json::parse(stream);
}

/// "name verdict" of each row of a summary.
std::vector<std::string> verdicts(const Json& summary) {
  std::vector<std::string> result;
  for (const auto& row : summary.at("rows"))
    result.push_back(row.at("name").get<std::string>() + " " + row.at("verdict").get<std::string>());
  return result;
}

const std::vector<std::string> expected_verdicts{"value=2.5,text=a pass", "value=2.5,text=b pass",
                                                 "value=2.625,text=a fail", "value=2.625,text=b fail"};

}  // namespace

TEST_CASE("every row is run, the worst one counts, and each has a record beside the summary") {
  const cli::Scratch scratch;
  const auto file = scratch.file("out.json");
  const auto result =
      cli::lockstep({"run", pipeline, "--json", file, "--junit", scratch.file("out.xml"), "--dump", scratch.file("d")});
  CHECK(result.code == 1);
  CHECK_THAT(result.out, contains_text("rows passed: 2 of 4"));
  const auto summary = read(file);
  CHECK(verdicts(summary) == expected_verdicts);
  CHECK(summary.at("verdict") == "fail");
  CHECK(summary.at("exit_code") == 1);
  for (const auto& row : summary.at("rows")) {
    const auto record = read(scratch.file(row.at("record")));
    CHECK(record.at("row").at("name") == row.at("name"));
    CHECK(record.at("verdict") == row.at("verdict"));
    CHECK(record.at("steps").size() == 3);
    CHECK(std::filesystem::exists(scratch.file("out." + row.at("name").get<std::string>() + ".xml")));
    CHECK(std::filesystem::exists(scratch.file("d/" + row.at("name").get<std::string>() + "/reference.safetensors")));
  }
  std::ifstream junit(scratch.file("out.xml"));
  CHECK_THAT(std::string(std::istreambuf_iterator<char>(junit), {}),
             contains_text("<testsuite name=\"rows\" tests=\"4\" failures=\"2\" errors=\"0\""));
}

TEST_CASE("a summary says of each row that did not pass what its first problem is") {
  const auto summary = Json::parse(cli::lockstep({"run", pipeline, "--json", "-"}).out);
  for (const auto& row : summary.at("rows"))
    CHECK(row.at("message") == (row.at("verdict") == "pass" ? Json() : Json("compare same_bits: 1 of 3 differ")));
  CHECK(Json::parse(cli::lockstep(
                        {"run", "pipelines/rows_end.toml", "--row", "how=throws", "--row", "how=skips", "--json", "-"})
                        .out)
            .at("rows")
            .at(1)
            .at("message")
            .get<std::string>()
            .starts_with("end: "));
}

TEST_CASE("with --quiet the summary leaves out the rows that passed") {
  const auto passing = cli::lockstep({"run", pipeline, "--row", "value=2.5", "--quiet"});
  CHECK(passing.code == 0);
  CHECK_THAT(passing.out, contains_text("\nrows passed: 2 of 2"));
  CHECK_THAT(passing.out, !contains_text("pass  value=2.5"));
  const auto failing = cli::lockstep({"run", pipeline, "--quiet"});
  CHECK_THAT(failing.out, contains_text("fail  value=2.625,text=a"));
  CHECK_THAT(failing.out, !contains_text("pass  value=2.5"));
}

TEST_CASE("rows that run at once give the same summary") {
  const auto summary = [](const std::string& jobs) {
    auto json = Json::parse(cli::lockstep({"run", pipeline, "--jobs", jobs, "--json", "-"}).out);
    for (auto* place : {&json, &json["rows"][0], &json["rows"][1], &json["rows"][2], &json["rows"][3]}) {
      place->erase("seconds");
      place->erase("peak_rss_bytes");
      place->erase("run_id");
      place->erase("peak_private_bytes");
    }
    return json;
  };
  const auto one = summary("1");
  CHECK(verdicts(one) == expected_verdicts);
  CHECK(summary("3") == one);
}

TEST_CASE("one selected row runs as a pipeline without a matrix does") {
  const auto record = Json::parse(cli::lockstep({"run", pipeline, "--row", "value=2.5,text=b", "--json", "-"}).out);
  CHECK(record.at("steps").size() == 3);
  CHECK(record.at("row").at("values") == Json{{"value", 2.5}, {"text", "b"}});
  CHECK(record.at("matrix").at("rows").size() == 4);
  CHECK_FALSE(record.contains("rows"));
}

TEST_CASE("the shards of several machines merge into the summary of all rows, and a lost one is refused") {
  const cli::Scratch scratch;
  const auto shard = [&](const std::string& which, const std::string& file) {
    return cli::lockstep({"run", pipeline, "--shard", which, "--json", scratch.file(file)}).code;
  };
  CHECK(shard("1/3", "1.json") == 1);
  CHECK(shard("2/3", "2.json") == 0);
  CHECK(shard("3/3", "3.json") == 1);
  const auto merge = [&](std::vector<std::string> files, const std::vector<std::string>& more = {}) {
    for (auto& file : files) file = scratch.file(file);
    files.insert(files.begin(), "merge");
    files.insert(files.end(), more.begin(), more.end());
    return cli::lockstep(files);
  };
  const auto all = merge({"3.json", "1.json", "2.json"}, {"--json", scratch.file("all.json")});
  CHECK(all.code == 1);
  const auto summary = read(scratch.file("all.json"));
  CHECK(verdicts(summary) == expected_verdicts);
  for (const auto& row : summary.at("rows")) CHECK(std::filesystem::exists(scratch.file(row.at("record"))));

  const auto lost = merge({"1.json", "3.json"}, {"--json", scratch.file("lost.json")});
  CHECK(lost.code == 2);
  golden::check("cli/golden/F005.txt", cli::normalised(lost.err));
  CHECK_FALSE(std::filesystem::exists(scratch.file("lost.json")));
}

TEST_CASE("a summary merges beside the records of its rows, a second run of a row does not") {
  const cli::Scratch scratch;
  CHECK(cli::lockstep({"run", pipeline, "--json", scratch.file("out.json")}).code == 1);
  std::vector<std::string> words{"merge", "--json", scratch.file("all.json")};
  for (const auto& file : std::filesystem::directory_iterator(scratch.file(""))) words.push_back(file.path().string());
  REQUIRE(words.size() == 8);  // the summary and four rows
  CHECK(cli::lockstep(words).code == 1);
  CHECK(verdicts(read(scratch.file("all.json"))) == expected_verdicts);
  const auto again = scratch.file("again.json");
  CHECK(cli::lockstep({"run", pipeline, "--row", "value=2.5,text=a", "--json", again}).code == 0);
  words.push_back(again);
  CHECK_THAT(cli::lockstep(words).err, contains_text("error[F005]: row 'value=2.5,text=a' ran twice"));
}

TEST_CASE("diff of two summaries looks into the rows whose records lie beside them") {
  const cli::Scratch a;
  const cli::Scratch b;
  const auto rows = [](const cli::Scratch& scratch, const std::string& value) {
    (void)cli::lockstep({"run", pipeline, "--set", "step.reference.with.values=[1.0, " + value + ", -3.0]", "--json",
                         scratch.file("out.json")});
    return scratch.file("out.json");
  };
  const auto before = rows(a, "2.5");
  const auto after = rows(b, "2.25");
  const auto moved = cli::lockstep({"diff", before, after});
  CHECK(moved.code == 1);
  CHECK(moved.err.empty());
  CHECK_THAT(moved.out, contains_text("value=2.5,text=a  compare same_bits  verdict: pass -> fail"));
  CHECK_THAT(moved.out, contains_text("value=2.625,text=a  reference  parameters.values:"));
  CHECK_THAT(cli::lockstep({"diff", before, after, "--json"}).out, contains_text("\"row\": \"value=2.5,text=a\""));
  std::filesystem::remove(a.file("out.value=2.5,text=b.json"));
  CHECK_THAT(
      cli::lockstep({"diff", before, after}).err,
      contains_text("compared by their summaries alone, for a record of theirs is not beside one: value=2.5,text=b"));
}

TEST_CASE("a report on a device has no files of rows beside it") {
  const cli::Scratch scratch;
  const auto device = scratch.file("device.json");
  std::filesystem::create_symlink("/dev/null", device);
  const auto other = scratch.file("device.html");
  std::filesystem::create_symlink("/dev/stderr", other);
  const auto result = cli::lockstep({"run", pipeline, "--row", "value=2.5", "--json", device, "--html", other});
  CHECK(result.code == 0);
  CHECK_THAT(result.err, contains_text("<!DOCTYPE html>"));
  const std::filesystem::directory_iterator files(scratch.file(""));
  CHECK(std::distance(begin(files), end(files)) == 2);
}

TEST_CASE("records that are not of one matrix do not merge") {
  const cli::Scratch scratch;
  const auto record = [&](const std::string& file, std::vector<std::string> words) {
    words.insert(words.begin(), "run");
    words.insert(words.end(), {"--json", scratch.file(file)});
    (void)cli::lockstep(words);
    return scratch.file(file);
  };
  const auto row = record("row.json", {pipeline, "--row", "value=2.5,text=a"});
  const auto plain = record("plain.json", {"pipelines/pass.toml"});
  golden::check("cli/golden/F005-plain.txt",
                golden::replaced(cli::lockstep({"merge", plain}).err, scratch.file(""), "<folder>/"));
  const auto other = record("other.json", {"pipelines/rows_end.toml", "--row", "how=skips"});
  CHECK_THAT(cli::lockstep({"merge", row, other}).err, contains_text("differ in the pipeline's sha256"));
  const auto set = record("set.json", {pipeline, "--row", "value=2.5,text=b", "--set", "environment.seed=3"});
  CHECK_THAT(cli::lockstep({"merge", row, set}).err, contains_text("differ in their --config and --set"));
  const auto only = record("only.json", {pipeline, "--row", "value=2.5,text=b", "--only", "reference"});
  CHECK_THAT(cli::lockstep({"merge", row, only}).err, contains_text("differ in their --only, --from, --to and --skip"));
  const auto config = [&](const std::string& seed, const std::string& text) {
    std::ofstream(scratch.file("config.toml")) << "[environment]\nseed = " << seed << "\n";
    return record("config" + text + ".json",
                  {pipeline, "--row", "value=2.5,text=" + text, "--config", scratch.file("config.toml")});
  };
  const auto a = config("3", "a");
  const auto b = config("4", "b");
  CHECK_THAT(cli::lockstep({"merge", a, b}).err, contains_text("differ in what their --config files hold"));
}

TEST_CASE("a shard without rows passes, for the others verify") {
  const auto result = cli::lockstep({"run", pipeline, "--shard", "5/5"});
  CHECK(result.code == 0);
  CHECK_THAT(result.out, contains_text("no rows in this shard"));
  CHECK_THAT(cli::lockstep({"run", pipeline, "--shard", "5/5", "--junit", "-"}).out,
             contains_text("failures=\"0\" errors=\"0\""));
}

TEST_CASE("a row whose process ends without a word is crashed, and the others run") {
  const cli::Scratch scratch;
  const auto file = scratch.file("out.json");
  const auto result = cli::lockstep({"run", "pipelines/rows_end.toml", "--row", "how=exits", "--row", "how=skips",
                                     "--row", "how=throws", "--json", file});
  CHECK(result.code == 5);
  const auto summary = read(file);
  CHECK(verdicts(summary) == std::vector<std::string>{"how=exits crashed", "how=skips fail", "how=throws error"});
  CHECK(summary.at("verdict") == "crashed");
}

TEST_CASE("a row whose process a signal ends is crashed; what a plugin leaves to be done at the end is not") {
  const cli::Scratch scratch;
  const auto file = scratch.file("out.json");
  CHECK(cli::lockstep({"run", "pipelines/rows_end.toml", "--set", "matrix.how=[\"dies\", \"dies_late\"]", "--set",
                       "step.end.checks.forgotten.level=off", "--json", file})
            .code == 5);
  const auto summary = read(file);
  CHECK(summary.at("rows").at(0).at("verdict") == "crashed");
  CHECK(summary.at("rows").at(0).at("message") == "the row's process was ended by signal 9 (SIGKILL)");
  CHECK(read(scratch.file("out.how=dies.json")).at("verdict") == "incomplete");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  CHECK(summary.at("rows").at(1).at("verdict") == "fail");  // nothing was verified
#endif
}

TEST_CASE("records of an earlier run are gone before the first row runs") {
  const cli::Scratch scratch;
  const auto marker = scratch.file("waiting");
  const auto later = scratch.file("out.how=throws.json");
  std::ofstream(later) << "{}";
  process::Process run(cli::words({"run", "pipelines/rows_end.toml", "--row", "how=waits", "--row", "how=throws",
                                   "--set", "marker=" + marker, "--json", scratch.file("out.json")}),
                       cli::options());
  while (!std::filesystem::exists(marker)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK_FALSE(std::filesystem::exists(later));
  run.send(SIGINT);
  CHECK(run.wait().code == 6);
}

TEST_CASE("rows of a pipeline that is edited while they run are errors") {
  const cli::Scratch scratch;
  const auto edited = scratch.file("edited.toml");
  std::filesystem::copy_file(cli::folder / "pipelines/rows_end.toml", edited);
  const auto marker = scratch.file("waiting");
  process::Process run(cli::words({"run", edited, "--set", "matrix.how=[\"waits\", \"idles\"]", "--set",
                                   "step.end.checks.forgotten.level=off", "--set", "marker=" + marker, "--json",
                                   scratch.file("o.json")}),
                       cli::options());
  while (!std::filesystem::exists(marker)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::ofstream(edited, std::ios::app) << "# edited\n";
  std::ofstream(marker, std::ios::trunc) << "go on";
  std::filesystem::remove(marker);
  const auto result = run.wait();
  CHECK(result.code == 4);
  const auto summary = read(scratch.file("o.json"));
  CHECK(summary.at("rows").at(1).at("verdict") == "error");
  CHECK_THAT(summary.at("rows").at(1).at("message").get<std::string>(),
             contains_text("differs in the pipeline's sha256"));
}

TEST_CASE("Ctrl-C ends the row that runs with its record, and starts no other") {
  const cli::Scratch scratch;
  const auto marker = scratch.file("waiting");
  process::Process run(cli::words({"run", "pipelines/rows_end.toml", "--row", "how=waits", "--row", "how=throws",
                                   "--set", "marker=" + marker, "--json", scratch.file("out.json")}),
                       cli::options());
  while (!std::filesystem::exists(marker)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  run.send(SIGINT);
  CHECK(run.wait().code == 6);
  CHECK(read(scratch.file("out.how=waits.json")).at("verdict") == "interrupted");
  const auto summary = read(scratch.file("out.json"));
  CHECK(verdicts(summary) == std::vector<std::string>{"how=waits interrupted", "how=throws interrupted"});
  CHECK(summary.at("rows").at(1).at("message") == "not started");
}

TEST_CASE("with --fail-fast no further row is started once one did not pass") {
  const cli::Scratch scratch;
  const auto stale = scratch.file("out.value=2.5,text=b.json");
  std::ofstream(stale) << "{}";
  const auto result = cli::lockstep({"run", pipeline, "--set", "matrix.value=[2.625, 2.5]", "--fail-fast", "--json",
                                     scratch.file("out.json"), "--junit", scratch.file("out.xml")});
  CHECK(result.code == 1);
  const auto summary = read(scratch.file("out.json"));
  CHECK(verdicts(summary) == std::vector<std::string>{"value=2.625,text=a fail", "value=2.625,text=b incomplete",
                                                      "value=2.5,text=a incomplete", "value=2.5,text=b incomplete"});
  CHECK(summary.at("verdict") == "fail");
  CHECK(summary.at("rows").at(3).at("message") == "not started: another row did not pass (--fail-fast)");
  CHECK(summary.at("rows").at(3).at("record").is_null());
  CHECK_FALSE(std::filesystem::exists(stale));
  CHECK_THAT(cli::content(scratch.file("out.xml")),
             contains_text("<testsuite name=\"rows\" tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"3\""));
  CHECK(cli::lockstep({"run", "pipelines/rows_end.toml", "--fail-fast", "--row", "how=throws", "--row", "how=skips"})
            .code == 1);
}

TEST_CASE("a step that only some rows have can be named, and chooses those rows") {
  const std::string rows = "pipelines/rows_ids.toml";
  const auto of = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"run", rows, "--json", "-"});
    const auto result = cli::lockstep(words);
    CHECK(result.code == 0);
    return Json::parse(result.out);
  };
  const auto skipped = of({"--skip", "twice_b", "--jobs", "2"});
  CHECK(verdicts(skipped) == std::vector<std::string>{"text=a pass", "text=b pass", "text=c pass"});
  CHECK(skipped.at("rows").at(1).at("steps").at("skipped") == 1);
  CHECK_FALSE(skipped.at("rows").at(2).at("steps").contains("skipped"));
  CHECK(verdicts(of({"--only", "twice_b", "--only", "twice_c"})) ==
        std::vector<std::string>{"text=b pass", "text=c pass"});
  CHECK(of({"--from", "twice_c"}).at("row").at("name") == "text=c");
  const auto plan = cli::lockstep({"plan", rows, "--only", "twice_b", "--format", "github-matrix"});
  CHECK(Json::parse(plan.out).at("include").size() == 1);
}

TEST_CASE("a step that no row has is refused once, one that no selected row has as well") {
  for (const auto* option : {"--only", "--skip", "--from", "--to"}) {
    const auto result = cli::lockstep({"run", "pipelines/rows_ids.toml", option, "twice_x"});
    CHECK(result.code == 2);
    CHECK_THAT(result.err, contains_text("did you mean 'twice_a'?"));
    CHECK_THAT(result.err, contains_text("1 error; nothing ran"));
  }
  const auto other = cli::lockstep({"run", "pipelines/rows_ids.toml", "--row", "text=a", "--only", "twice_b"});
  CHECK(other.code == 2);
  golden::check("cli/golden/C010-row.txt", cli::normalised(other.err));
  const auto shard = cli::lockstep({"run", "pipelines/rows_ids.toml", "--shard", "1/3", "--only", "twice_b"});
  CHECK(shard.code == 0);
  CHECK_THAT(shard.out, contains_text("no rows in this shard"));
}

TEST_CASE("a name with the value of an axis is that of its row, and all rows share a baseline and a summary") {
  const cli::Scratch scratch;
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", "pipelines/rows_ids.toml"});
    return cli::lockstep(more);
  };
  const auto baseline = scratch.file("base.toml");
  CHECK(run({"--baseline", baseline, "--update-baseline"}).code == 0);
  CHECK_THAT(cli::content(baseline), contains_text("pipeline = \"ids of 3 for ${matrix.text}\""));
  CHECK(run({"--baseline", baseline, "--json", scratch.file("out.json")}).code == 0);
  CHECK(run({"--baseline", baseline, "--row", "text=b"}).code == 0);
  CHECK(read(scratch.file("out.json")).at("pipeline").at("name") == "ids of 3 for ${matrix.text}");
  CHECK(read(scratch.file("out.text=b.json")).at("pipeline").at("name") == "ids of 3 for b");
  const auto merged = cli::lockstep({"merge", scratch.file("out.text=a.json"), scratch.file("out.text=b.json"),
                                     scratch.file("out.text=c.json"), "--json", "-"});
  CHECK(merged.code == 0);
  CHECK(Json::parse(merged.out).at("pipeline").at("name") == "ids of 3 for ${matrix.text}");
}

TEST_CASE("a baseline has each row of its own, also when rows run at once") {
  const cli::Scratch scratch;
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(),
                {"run", pipeline, "--set", "matrix.value=[2.5, 2.5625]", "--set",
                 "step.compare.checks.same_bits.level=inform", "--jobs", "3", "--baseline", scratch.file("base.toml")});
    return cli::lockstep(more);
  };
  CHECK(run({"--update-baseline"}).code == 0);
  const auto baseline = cli::content(scratch.file("base.toml"));
  for (const auto* row : {"value=2.5,text=a", "value=2.5,text=b", "value=2.5625,text=a", "value=2.5625,text=b"})
    CHECK_THAT(baseline, contains_text(row));
  CHECK(run({}).code == 0);
  const auto other = run({"--set", "matrix.text=[\"c\"]"});
  CHECK(other.code == 1);
  CHECK_THAT(other.out, contains_text("the baseline has nothing about row \"value=2.5,text=c\""));
}

TEST_CASE("a row that the matrix lost is not lost on its baseline") {
  const cli::Scratch scratch;
  const auto file = scratch.file("base.toml");
  const auto run = [&](const std::string& axis, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"run",        pipeline, "--set", "matrix.value=2.5", "--set", "matrix.text=" + axis,
                                   "--baseline", file};
    words.insert(words.end(), more.begin(), more.end());
    return cli::lockstep(words);
  };
  REQUIRE(run("[\"a\", \"b\", \"c\"]", {"--update-baseline"}).code == 0);
  CHECK(run("[\"a\", \"b\", \"c\"]").code == 0);
  CHECK(run("[\"a\", \"b\", \"c\"]", {"--row", "text=a"}).code == 0);
  CHECK(run("[\"a\", \"b\", \"c\"]", {"--shard", "1/2"}).code == 0);
  const auto two = run("[\"a\", \"b\"]");
  CHECK(two.code == 1);
  CHECK_THAT(two.out, contains_text("the matrix does not have 1 of its rows: value=2.5,text=c"));
  const auto one = run("[\"a\"]");
  CHECK(one.code == 1);
  CHECK_THAT(one.out, contains_text("the matrix does not have 2 of its rows"));
  CHECK(run("[\"a\", \"b\"]", {"--update-baseline"}).code == 1);
  CHECK(run("[\"a\", \"b\"]", {"--update-baseline", "--reason", "c is no longer built"}).code == 0);
  CHECK_THAT(cli::content(file), contains_text("row 'value=2.5,text=c' is gone"));
  CHECK(run("[\"a\", \"b\"]").code == 0);
}

TEST_CASE("a summary tells its rows in Markdown and as annotations") {
  const auto markdown = cli::lockstep({"run", pipeline, "--markdown", "-"});
  CHECK_THAT(markdown.out, contains_text("| `value=2.625,text=a` | **fail** | 1 fail, 1 pass |"));
  CHECK(markdown.out.find("2.625") < markdown.out.find("`value=2.5,"));
  CHECK_THAT(markdown.out,
             contains_text("| `value=2.625,text=a` | **FAIL** | `compare` | `same_bits` | 1 of 3 differ"));
  const auto github = cli::lockstep({"run", pipeline, "--github", "-"});
  CHECK(github.err.find("::error") == std::string::npos);  // GitHub reads both streams: each once
  CHECK_THAT(github.out,
             contains_text("::error file=pipelines/rows.toml,line=15,col=6,title=row value=2.625%2Ctext=a%3A "
                           "compare%3A same_bits::1 of 3 differ"));
}

TEST_CASE("a summary names the failing checks of each row, also after a merge, and counts what it leaves out") {
  const cli::Scratch scratch;
  const auto file = scratch.file("out.json");
  CHECK(cli::lockstep({"run", pipeline, "--row", "value=2.625", "--json", file, "--junit", scratch.file("out.xml")})
            .code == 1);
  const auto failures = read(file).at("rows").at(0).at("failures");
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].at("word") == "FAIL");
  CHECK(failures[0].at("step") == "compare");
  CHECK(failures[0].at("check") == "same_bits");
  CHECK(failures[0].at("location") == "pipelines/rows.toml:15:6");
  CHECK(read(file).at("rows").at(0).at("more_failures") == 0);
  const auto junit = cli::content(scratch.file("out.xml"));
  CHECK_THAT(junit, contains_text("FAIL compare: same_bits"));
  CHECK_THAT(junit, contains_text("<testsuite name=\"run\" tests=\"1\" failures=\"1\""));
  const auto report = cli::lockstep({"report", file, "--github", "-"});
  CHECK_THAT(report.out, contains_text("title=row value=2.625%2Ctext=b%3A compare%3A same_bits::"));
}

TEST_CASE("a row's file that would be written over an input or over another report is refused before anything runs") {
  const cli::Scratch scratch;
  const auto file = scratch.file("x.value=2.5,text=a.toml");
  std::filesystem::copy_file(cli::folder / pipeline, file);
  const auto before = cli::content(file);
  const auto over_input = cli::lockstep({"run", file, "--json", scratch.file("x.toml")});
  CHECK(over_input.code == 2);
  CHECK_THAT(over_input.err,
             contains_text("error[C011]: '--json' would write the report of row 'value=2.5,text=a' over"));
  CHECK(cli::content(file) == before);
  const auto over_report = cli::lockstep(
      {"run", pipeline, "--json", scratch.file("o.json"), "--markdown", scratch.file("o.value=2.625,text=b.json")});
  CHECK(over_report.code == 2);
  CHECK_THAT(over_report.err, contains_text("would write the report of row 'value=2.625,text=b' over"));
  const auto too_long = cli::lockstep({"run", pipeline, "--json", scratch.file(std::string(230, 'o') + ".json")});
  CHECK(too_long.code == 2);
  CHECK_THAT(too_long.err, contains_text("to a file name of 252 bytes, more than 239"));
}

TEST_CASE("what a row prints is shown as a whole, also if it is much") {
  const cli::Scratch scratch;
  const auto result = cli::lockstep({"run", "pipelines/rows_end.toml", "--set", "matrix.marker=[\"a\", \"b\"]", "--set",
                                     "matrix.how=prints", "--set", "marker=${matrix.marker}", "--jobs", "2"});
  const auto first = result.out.find("line 0\n");
  REQUIRE(first != std::string::npos);
  std::string whole;
  for (int i = 0; i < 20000; ++i) whole += "line " + std::to_string(i) + "\n";
  CHECK(result.out.compare(first, whole.size(), whole) == 0);
  CHECK(result.out.find(whole, first + whole.size()) != std::string::npos);
}

TEST_CASE("a number of jobs that is none is refused") {
  CHECK(cli::lockstep({"run", pipeline, "--row", "value=2.5,text=a", "--jobs=two"}).code == 2);
  CHECK(cli::lockstep({"run", "pipelines/pass.toml", "--jobs=two"}).code == 2);
  for (const auto* jobs : {"0", "-1", "two", "1.5", "99999"}) {
    const auto result = cli::lockstep({"run", pipeline, std::string("--jobs=") + jobs});
    CHECK(result.code == 2);
    CHECK_THAT(result.err, contains_text("expected 1 to 1024"));
  }
}
