// How inputs get into the process of an isolated step, and outputs out of it.

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "isolation.hpp"

using isolation::Json;
using isolation::Run;

TEST_CASE("tensors of every layout and value cross both ways, bit for bit, and shared memory stays shared") {
  const Run run({"pipelines/mirror.toml"});
  INFO(run.result.out << run.result.err);
  CHECK(run.result.code == 0);
  CHECK(run.status("judge") == R"("pass")");
  CHECK(run.at("mirror").at("process") != run.at("tensors").value("process", Json()));
  CHECK(run.record.at("environment").at("mirror") == "here");
  CHECK(run.at("mirror").at("outputs").at("same").at("tensors").size() == 11);
}

TEST_CASE("the record of an isolated step is that of the same step in the run's own process") {
  Json isolated = Run({"pipelines/mirror.toml"}).at("mirror");
  Json inside = Run({"pipelines/mirror.toml", "--set", "step.mirror.isolation=none"}).at("mirror");
  CHECK(isolated.at("process") != inside.at("process"));
  for (const auto* field : {"process", "seconds", "peak_rss_bytes", "peak_private_bytes", "isolation"}) {
    isolated.erase(field);
    inside.erase(field);
  }
  CHECK(isolated == inside);
}

TEST_CASE("a result that cannot be sent is computed again, from sent tensors") {
  const isolation::Scratch scratch;
  const Run run({"pipelines/object.toml", "--set", "log=" + scratch.file("log")});
  INFO(run.result.out << run.result.err);
  CHECK(run.result.code == 0);
  std::istringstream log(isolation::content(scratch.file("log")));
  const std::set<std::string> processes(std::istream_iterator<std::string>(log), {});
  CHECK(processes.size() == 2);
  const auto& made_here = run.at("read").at("checks").at(1);
  CHECK(made_here.at("name") == "made_here");
  CHECK(made_here.at("verdict") == "pass");
}

TEST_CASE("two isolated steps may share what cannot be sent") {
  const Run run({"pipelines/object.toml", "--set", "step.make.isolation=process"});
  INFO(run.result.out << run.result.err);
  CHECK(run.result.code == 0);
  CHECK(run.at("make").at("outputs").at("object").at("type") == "iso.object/1");
}

TEST_CASE("a crash while an input is computed again names the step that it came from") {
  const isolation::Scratch scratch;
  const Run run({"pipelines/object.toml", "--set", "log=" + scratch.file("log"), "--set", "dies_again=true"});
  CHECK(run.result.code == 5);
  CHECK(run.status("make") == R"("done")");
  CHECK(run.reason("read") == "was ended by signal 6 (SIGABRT) in " TEST_PLUGINS
                              "/iso.make_object.so, while 'make' was computed again");
}

TEST_CASE("a result that cannot leave its process and is read outside is found before anything runs") {
  const isolation::Scratch scratch;
  const auto result =
      process::run(isolation::words({"run", "pipelines/object.toml", "--set", "step.make.isolation=process", "--set",
                                     "step.read.isolation=none"}),
                   isolation::options(scratch));
  CHECK(result.code == 2);
  CHECK(
      result.err.find("error[P062]: output 'object' of isolated step 'make' cannot leave its process, but step 'read' "
                      "reads it and is not isolated") != std::string::npos);
  CHECK(result.err.find("--set step.read.isolation=process") != std::string::npos);
}

TEST_CASE("--dump writes the tensors of an isolated step") {
  const isolation::Scratch scratch;
  const Run run({"pipelines/mirror.toml", "--dump", scratch.file("dump")});
  const isolation::Scratch other;
  const Run inside({"pipelines/mirror.toml", "--set", "step.mirror.isolation=none", "--dump", other.file("dump")});
  CHECK(isolation::content(scratch.file("dump/mirror.safetensors")) ==
        isolation::content(other.file("dump/mirror.safetensors")));
}

TEST_CASE("the plan shows what is sent to an isolated step and what is computed again") {
  const isolation::Scratch scratch;
  const auto text =
      process::run(isolation::words({"plan", "pipelines/object.toml", "--set", "step.read.time_limit=60"}),
                   isolation::options(scratch))
          .out;
  INFO(text);
  CHECK(text.find("in a process of its own, at most 60 s") != std::string::npos);
  CHECK(std::regex_search(text, std::regex("there again\\) +make\n")));
  const auto json = Json::parse(
      process::run(isolation::words({"plan", "pipelines/object.toml", "--json"}), isolation::options(scratch)).out);
  const auto& isolated = isolation::step(json, "read").at("isolation");
  CHECK(isolated.at("time_limit").is_null());
  CHECK(isolated.at("computed_again") == Json{"make"});
  CHECK(isolated.at("sent") == Json{"tensors.numbers"});
  CHECK(isolation::step(json, "make").at("isolation").is_null());
}
