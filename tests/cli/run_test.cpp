// Records, reports and exit codes of real runs.

#include <sys/stat.h>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli.hpp"

using nlohmann::json;

TEST_CASE("the record of a failing run reads as approved") {
  const cli::Scratch scratch;
  const auto record = scratch.file("record.json");
  REQUIRE(cli::lockstep({"run", "pipelines/fail.toml", "--quiet", "--json", record}).code == 1);
  golden::check("cli/golden/record.json", cli::normalised(cli::content(record)));
}

TEST_CASE("the JUnit report of a failing run reads as approved") {
  const cli::Scratch scratch;
  const auto report = scratch.file("report.xml");
  REQUIRE(cli::lockstep({"run", "pipelines/fail.toml", "--quiet", "--junit", report}).code == 1);
  auto text = cli::normalised(cli::content(report));
  text = std::regex_replace(text, std::regex(R"(time="[\d.]+")"), "time=\"0.000\"");
  text = std::regex_replace(
      text, std::regex(R"re(name="(peak_rss_bytes|peak_private_bytes|build_id|environment.cpu)" value="[^"]*")re"),
      "name=\"$1\" value=\"…\"");
  golden::check("cli/golden/junit.xml", text);
}

TEST_CASE("each exit code comes with the record's verdict") {
  struct Case {
    const char* pipeline;
    int code;
    const char* verdict;
  };
  const auto expected =
      GENERATE(Case{"pass", 0, "pass"}, Case{"warn", 0, "pass"}, Case{"skip", 0, "pass"}, Case{"fail", 1, "fail"},
               Case{"vacuous", 1, "fail"}, Case{"invalid", 2, "invalid"}, Case{"error", 4, "error"});
  INFO(expected.pipeline);
  const cli::Scratch scratch;
  const auto record = scratch.file("record.json");
  const auto result = cli::lockstep({"run", std::string("pipelines/") + expected.pipeline + ".toml", "--json", record});
  CHECK(result.code == expected.code);
  const auto written = json::parse(cli::content(record));
  CHECK(written.at("exit_code") == expected.code);
  CHECK(written.at("verdict") == expected.verdict);
  CHECK(written.at("schema") == 1);
}

TEST_CASE("a plugin that does not load is exit code 3, shown by list, and leaves an invalid record") {
  const cli::Scratch scratch;
  std::ofstream(scratch.file("toy.broken.so")) << "this is no shared library";
  std::ofstream(scratch.file("broken.toml")) << "schema = 1\n[[step]]\nid = \"broken\"\nuses = \"toy.broken\"\n";
  const auto record = scratch.file("record.json");
  const auto folder = std::filesystem::path(record).parent_path().string();

  const auto run = cli::lockstep({"run", scratch.file("broken.toml"), "--plugin-path", folder, "--json", record});
  CHECK(run.code == 3);
  CHECK(run.err.find("error[L002]") != std::string::npos);
  const auto written = json::parse(cli::content(record));
  CHECK(written.at("verdict") == "invalid");
  CHECK(written.at("exit_code") == 3);
  CHECK(cli::lockstep({"validate", scratch.file("broken.toml"), "--plugin-path", folder}).code == 3);
  CHECK(cli::lockstep({"describe", "toy.broken", "--plugin-path", folder}).code == 3);

  const auto list = cli::lockstep({"list", "--plugin-path", folder});
  CHECK(list.code == 0);
  CHECK(list.out.find("toy.broken") != std::string::npos);
  CHECK(list.out.find("L002") != std::string::npos);
  CHECK(list.out.find("toy.rules") != std::string::npos);
}

TEST_CASE("a run opens the plugins that it uses and no other") {
  const cli::Scratch scratch;
  std::ofstream(scratch.file("toy.broken.so")) << "this is no shared library";
  const auto folder = std::filesystem::path(scratch.file("x")).parent_path().string();
  const auto result = cli::lockstep({"run", "pipelines/pass.toml", "--plugin-path", folder});
  CHECK(result.code == 0);
  CHECK(result.err.empty());
}

TEST_CASE("the program and the engine load no LibTorch") {
  auto options = cli::options();
  options.environment.emplace_back("LD_TRACE_LOADED_OBJECTS=1");  // ld.so(8): lists the libraries and runs nothing
  const auto libraries = process::run(cli::words({}), options).out;
  CHECK(libraries.find("liblockstep.so") != std::string::npos);
  CHECK(libraries.find("torch") == std::string::npos);
  CHECK(libraries.find("libc10") == std::string::npos);
}

TEST_CASE("every verb explains itself") {
  const auto overview = cli::lockstep({"--help"}).out;
  for (const auto* verb : {"run", "validate", "plan", "list", "describe", "explain", "compare"}) {
    INFO(verb);
    const auto help = cli::lockstep({verb, "--help"});
    CHECK(help.code == 0);
    CHECK(help.out.find(std::string("\nusage: lockstep ") + verb) != std::string::npos);
    CHECK(help.err.empty());
    CHECK(overview.find(std::string("\n  lockstep ") + verb + " ") != std::string::npos);
  }
}

TEST_CASE("list shows each step with its summary") {
  const auto result = cli::lockstep({"list"});
  CHECK(result.code == 0);
  CHECK(std::regex_search(result.out, std::regex("toy\\.source +publishes numbers\n")));
}

TEST_CASE("the record is whole after every step and says that the run is incomplete") {
  const cli::Scratch scratch;
  const auto record = scratch.file("record.json");
  const auto marker = scratch.file("marker");
  process::Process running(
      cli::words({"run", "pipelines/wait.toml", "--set", "how=waits", "--set", "marker=" + marker, "--json", record}),
      cli::options());
  while (!std::filesystem::exists(marker)) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const auto written = json::parse(cli::content(record));
  CHECK(written.at("verdict") == "incomplete");
  CHECK(written.at("steps").at(0).at("status") == "pass");
  CHECK(written.at("steps").at(1).at("status").is_null());
  running.send(SIGINT);
  CHECK(running.wait().code == 6);
}

TEST_CASE("with --json - the document alone is on standard output") {
  const auto result = cli::lockstep({"run", "pipelines/fail.toml", "--json", "-"});
  CHECK(result.code == 1);
  CHECK(json::parse(result.out).at("verdict") == "fail");
  CHECK(result.err.find("FAIL   compare") != std::string::npos);
  CHECK(cli::lockstep({"run", "pipelines/fail.toml", "--junit", "-"}).out.starts_with("<?xml"));
}

TEST_CASE("a pipe gets one whole document, at the end") {
  const cli::Scratch scratch;
  const auto pipe = scratch.file("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::string text;
  std::thread reader([&] { text = cli::content(pipe); });
  CHECK(cli::lockstep({"run", "pipelines/pass.toml", "--json", pipe}).code == 0);
  reader.join();
  CHECK(json::parse(text).at("verdict") == "pass");
  CHECK(std::filesystem::is_fifo(pipe));
  CHECK(cli::lockstep({"run", "pipelines/pass.toml", "--json", "/dev/null"}).code == 0);
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("a JUnit report that cannot be written is in the record") {
  const cli::Scratch scratch;
  const auto record = scratch.file("record.json");
  std::filesystem::create_symlink("circle", scratch.file("circle"));
  const auto result =
      cli::lockstep({"run", "pipelines/fail.toml", "--json", record, "--junit", scratch.file("circle")});
  CHECK(result.code == 4);
  const auto written = json::parse(cli::content(record));
  CHECK(written.at("exit_code") == 4);
  CHECK(written.at("verdict") == "error");
  CHECK(written.at("diagnostics").at(0).at("code") == "R001");
  CHECK(written.at("steps").at(2).at("status") == "fail");
}

TEST_CASE("a report that has no folder is found before the first step, and the other reports say so") {
  const cli::Scratch scratch;
  const auto record = scratch.file("record.json");
  const auto junit = scratch.file("nowhere/junit.xml");
  const auto result =
      cli::lockstep({"run", "pipelines/fail.toml", "--json", record, "--junit", junit, "--dump", scratch.file("dump")});
  CHECK(result.code == 2);
  CHECK_FALSE(std::filesystem::exists(scratch.file("dump")));
  const auto written = json::parse(cli::content(record));
  CHECK(written.at("verdict") == "invalid");
  CHECK(written.at("diagnostics").at(0).at("code") == "R001");
  CHECK(written.at("steps").empty());
}

TEST_CASE("a full disk under standard output is exit code 4") {
  auto options = cli::options();
  options.output_file = "/dev/full";
  CHECK(process::run(cli::words({"run", "pipelines/pass.toml"}), options).code == 4);
  CHECK(process::run(cli::words({"run", "pipelines/pass.toml", "--json", "-"}), options).code == 4);
}

TEST_CASE("a reader that leaves early neither ends the program nor changes its exit code") {
  auto options = cli::options();
  options.output_is_closed = true;
  const auto result = process::run(cli::words({"run", "pipelines/fail.toml"}), options);
  CHECK(result.signal == 0);
  CHECK(result.code == 1);
  CHECK(process::run(cli::words({"list"}), options).code == 0);
}

TEST_CASE("a pipe gets no escape sequence, NO_COLOR wins over a terminal but not over --color") {
  CHECK(cli::lockstep({"run", "pipelines/fail.toml"}).out.find('\x1b') == std::string::npos);
  auto options = cli::options();
  options.environment.emplace_back("NO_COLOR=1");
  const auto forced = process::run(cli::words({"run", "pipelines/fail.toml", "--color", "always"}), options);
  CHECK(forced.out.find("\x1b[1;31mFAIL\x1b[0m") != std::string::npos);
}

TEST_CASE("a terminal gets colour and a line about the running step that is gone at the end") {
  auto options = cli::options();
  const auto command = std::string(LOCKSTEP_PROGRAM) + " run pipelines/pass.toml";
  const auto colourful = process::run({"script", "-qec", command, "/dev/null"}, options);
  CHECK(colourful.code == 0);
  CHECK(colourful.out.find("\x1b[32mpass\x1b[0m") != std::string::npos);
  const auto live = colourful.out.find("▸ compare");
  REQUIRE(live != std::string::npos);
  CHECK(colourful.out.find("\r\x1b[2K", live) != std::string::npos);
  CHECK(colourful.out.find("▸", colourful.out.find("passed: 1")) == std::string::npos);

  options.environment.emplace_back("NO_COLOR=1");
  const auto plain = process::run({"script", "-qec", command, "/dev/null"}, options);
  CHECK(plain.out.find("\x1b[32m") == std::string::npos);
}

TEST_CASE("--dump writes each step's tensors") {
  const cli::Scratch scratch;
  CHECK(cli::lockstep({"run", "pipelines/fail.toml", "--quiet", "--dump", scratch.file("dump")}).code == 1);
  const auto a = scratch.file("dump/reference.safetensors");
  const auto b = scratch.file("dump/runtime.safetensors");
  CHECK(cli::lockstep({"compare", a, b, "--metric", "bits"}).code == 1);
  CHECK(cli::lockstep(
            {"compare", b, scratch.file("dump/compare.safetensors"), "--metric", "bits", "--map", "numbers=result"})
            .code == 0);
}

TEST_CASE("a report that standard output does not take is in the record too") {
  const cli::Scratch scratch;
  auto options = cli::options();
  options.output_file = "/dev/full";
  const auto record = scratch.file("record.json");
  CHECK(process::run(cli::words({"run", "pipelines/pass.toml", "--json", record}), options).code == 4);
  const auto written = json::parse(cli::content(record));
  CHECK(written.at("exit_code") == 4);
  CHECK(written.at("verdict") == "error");
  CHECK(written.at("diagnostics").at(0).at("code") == "R001");
}

TEST_CASE("no report overwrites the pipeline or another report, whatever the spelling of its name") {
  const cli::Scratch scratch;
  const auto pipeline = scratch.file("p.toml");
  std::filesystem::copy_file(cli::folder / "pipelines/pass.toml", pipeline);
  const auto before = cli::content(pipeline);
  CHECK(cli::lockstep({"run", pipeline, "--json", scratch.file("./p.toml")}).code == 2);
  CHECK(cli::content(pipeline) == before);
  CHECK(cli::lockstep({"run", pipeline, "--json", scratch.file("x"), "--junit", scratch.file("./x")}).code == 2);
}

TEST_CASE("a report whose name is a symbolic link is written behind it, and the link stays") {
  const cli::Scratch scratch;
  std::filesystem::create_directory(scratch.file("reports"));
  std::filesystem::create_symlink("reports/today.json", scratch.file("record.json"));
  std::filesystem::create_symlink("record.json", scratch.file("latest.json"));
  CHECK(cli::lockstep({"run", "pipelines/pass.toml", "--json", scratch.file("latest.json")}).code == 0);
  CHECK(std::filesystem::is_symlink(scratch.file("latest.json")));
  CHECK(std::filesystem::is_symlink(scratch.file("record.json")));
  CHECK(std::filesystem::is_regular_file(std::filesystem::symlink_status(scratch.file("reports/today.json"))));
  CHECK(json::parse(cli::content(scratch.file("reports/today.json"))).at("verdict") == "pass");
}

TEST_CASE("a report whose name is a circle of links is an error, and the links stay") {
  const cli::Scratch scratch;
  std::filesystem::create_symlink("b.json", scratch.file("a.json"));
  std::filesystem::create_symlink("a.json", scratch.file("b.json"));
  const auto result = cli::lockstep(
      {"run", "pipelines/pass.toml", "--json", scratch.file("a.json"), "--junit", scratch.file("b.json")});
  CHECK(result.code == 4);
  CHECK(result.err.find("Too many levels of symbolic links") != std::string::npos);
  CHECK(std::filesystem::is_symlink(scratch.file("a.json")));
  CHECK(std::filesystem::is_symlink(scratch.file("b.json")));
}

TEST_CASE("an invalid command line writes a record only to a name that is beyond doubt") {
  const auto files_after = [](std::vector<std::string> words) {
    const cli::Scratch scratch;
    auto options = cli::options();
    options.folder = scratch.file("");
    words.insert(words.begin(), {"run", (cli::folder / "pipelines/pass.toml").string()});
    CHECK(process::run(cli::words(words), options).code == 2);
    return std::distance(std::filesystem::directory_iterator(options.folder), {});
  };
  CHECK(files_after({"--bogus", "--json", "--quiet"}) == 0);
  CHECK(files_after({"--bogus", "--set", "--json", "foo"}) == 0);
  CHECK(files_after({"--bogus", "--", "--json", "foo"}) == 0);
  CHECK(files_after({"--json", "x.json", "--bogus"}) == 1);
}
