#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/safetensors.hpp>

#include <lockstep/testing.hpp>

#include "catch.hpp"
#include "process.hpp"
#include "tensors.hpp"

using namespace lockstep;
using namespace lockstep::test;

namespace {

/// sh -c SCRIPT {inputs} {outputs}: the files are $0 and $1.
StepBench shell(const std::string& script) {
  StepBench bench("common.run_command");
  bench.set("command", Value::Array{"sh", "-c", script, "{inputs}", "{outputs}"});
  bench.bind("inputs", set_of({{"a", floats({1, 2})}, {"b", floats({3})}}));
  return bench;
}

std::optional<std::string> error_of(const std::string& script) { return shell(script).run().error(); }

std::string failure(const std::string& script, const std::string& what) {
  return "the command 'sh -c " + script + " {inputs} {outputs}' " + what;
}

std::size_t exchange_folders() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::temp_directory_path()))
    if (entry.path().filename().string().starts_with("lockstep-command-")) ++count;
  return count;
}

}  // namespace

TEST_CASE("a command reads its inputs from one file, and its outputs are taken from another") {
  auto bench = shell("cp \"$0\" \"$1\"");
  bench.run();
  REQUIRE(bench.error() == std::nullopt);
  const auto outputs = bench.output<NamedTensors>("outputs");
  CHECK(outputs->names() == std::vector<std::string>{"a", "b"});
  CHECK(values_of(outputs->at("a")) == std::vector<float>{1, 2});  // the file is gone, the tensors are not
  CHECK(bench.recorded().empty());
  CHECK(bench.summary() == "2 tensors from sh");
}

TEST_CASE("the files are also in the environment, and a placeholder may be part of a word") {
  auto bench = shell("");
  bench.set("command",
            Value::Array{"sh", "-c", "[ \"in=$LOCKSTEP_INPUTS\" = \"$0\" ] && cp $LOCKSTEP_INPUTS $LOCKSTEP_OUTPUTS",
                         "in={inputs}"});
  bench.run();
  CHECK(bench.error() == std::nullopt);
}

TEST_CASE("results names what is taken, and all of it must be there") {
  auto bench = shell("cp $0 $1");
  bench.set("results", Value::Array{"b"}).run();
  CHECK(bench.output<NamedTensors>("outputs")->names() == std::vector<std::string>{"b"});
  auto missing = shell("cp $0 $1");
  missing.set("results", Value::Array{"a", "logits"}).run();
  CHECK(missing.error() == failure("cp $0 $1", "wrote no tensor 'logits', but a, b"));
  CHECK(missing.output<NamedTensors>("outputs") == nullptr);
}

TEST_CASE("a command needs no inputs") {
  StepBench bench("common.run_command");
  bench.set("command", Value::Array{"cp", LOCKSTEP_TEST_DATA "/safetensors/all_dtypes.safetensors", "{outputs}"}).run();
  CHECK(bench.error() == std::nullopt);
  CHECK(bench.output<NamedTensors>("outputs")->size() > 18);
}

TEST_CASE("a command that fails is an error with its ending and the last that it said; the record has more") {
  const std::string script = "echo loading; echo no such device >&2; exit 3";
  auto bench = shell(script);
  bench.run();
  CHECK(bench.error() == failure(script, "exited with code 3; its output ends with: no such device"));
  const std::vector<std::pair<std::string, Value>> fields{{"output_tail", Value::Array{"loading", "no such device"}}};
  CHECK(bench.recorded() == fields);
  CHECK(error_of("kill -SEGV $$") == failure("kill -SEGV $$", "was ended by signal 11 (SIGSEGV)"));
  CHECK(error_of("cp $0 $1; exit 1") == failure("cp $0 $1; exit 1", "exited with code 1"));  // outputs do not excuse it
}

TEST_CASE("past its time limit a command is ended") {
  auto bench = shell("echo begun; sleep 60");
  bench.set("time_limit", 0.3).run();
  CHECK(bench.error() == failure("echo begun; sleep 60",
                                 "was still running after 0.3 s (with.time_limit); its output ends with: begun"));
}

TEST_CASE("outputs that are not there or cannot be read are an error") {
  CHECK(error_of("true") == failure("true", "wrote no outputs"));
  const auto unreadable = [](const std::string& script) {
    return error_of(script).value_or("").starts_with(failure(script, "wrote outputs that cannot be read: "));
  };
  CHECK(unreadable("echo junk > $1"));
  CHECK(unreadable("head -c 100 $0 > $1"));
  CHECK(unreadable("mkdir $1"));
}

TEST_CASE("a program that is not there is an error, and one that is not named is found before the run") {
  StepBench bench("common.run_command");
  bench.set("command", Value::Array{"no-such-program"}).run();
  CHECK(bench.error() == "'no-such-program' cannot be started: No such file or directory");
  StepBench empty("common.run_command");
  empty.set("command", Value::Array{});
  CHECK(empty.problems() == std::vector<std::string>{"with.command: P020: step 'bench': names no program"});
}

TEST_CASE("the working folder is the one that is given") {
  const Scratch scratch;
  write_safetensors(scratch.file("here.safetensors"), {{"x", floats({7})}});
  auto bench = shell("cp here.safetensors $1");
  bench.set("folder", scratch.path().string()).run();
  CHECK(bench.error() == std::nullopt);
}

TEST_CASE("with keep the files stay, and the help repeats a command that failed") {
  const Scratch scratch;
  auto bench = shell("cp \"$0\" \"$1\"; echo no device >&2; exit 3");
  bench.set("keep", true).set("folder", scratch.path().string()).run();
  const auto report = bench.report();
  INFO(report);
  const auto start = report.find("to repeat it: ");
  REQUIRE(start != std::string::npos);
  const auto line = report.substr(start + 14, report.find('\n', start) - start - 14);
  const auto again = process::run({"sh", "-c", line});
  CHECK(again.code == 3);
  CHECK(again.err == "no device\n");
  const auto name = line.substr(line.find("LOCKSTEP_INPUTS=") + 16);
  const std::filesystem::path inputs = name.substr(0, name.find(' '));
  CHECK(read_tensor_file(inputs).names() == std::vector<std::string>{"a", "b"});
  std::filesystem::remove_all(inputs.parent_path());
}

TEST_CASE("no file is left behind, however the command ends") {
  const Scratch scratch;
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TMPDIR", scratch.path().c_str(), 1);
  for (const auto* script : {"cp $0 $1", "exit 1", "echo junk > $1; touch \"$1.more\""}) {
    (void)error_of(script);
    CHECK(exchange_folders() == 0);
  }
  kept.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", kept.c_str(), 1);
}
