#include "process/child_process.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include <lockstep/diagnostic.hpp>

#include "catch.hpp"

using namespace lockstep;

namespace {

ChildRequest shell(const std::string& script) { return {.argv = {"sh", "-c", script}}; }

std::string ending_of(const ChildRequest& request) { return ending_text(request, run_child(request)); }

/// True if the process is gone within a second (it may be a zombie that its new parent has not collected yet).
bool is_gone(pid_t pid) {
  for (int i = 0; i < 100; ++i) {
    std::string state;
    std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
    if (!(status >> state >> state >> state) || state == "Z") return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

std::filesystem::path scratch_file(const std::string& name) {
  return std::filesystem::temp_directory_path() / ("lockstep-process-" + std::to_string(getpid()) + "-" + name);
}

}  // namespace

TEST_CASE("a child's exit code, its output in order of writing and its environment are seen") {
  auto request = shell("echo out; echo err >&2; echo $COLOUR $PWD; exit 3");
  request.environment = {{"COLOUR", "green"}};
  request.folder = "/";
  std::string seen;
  request.on_output = [&](std::string_view piece) { seen += piece; };
  const auto result = run_child(request);
  CHECK(result.exit_code == 3);
  CHECK(result.signal == 0);
  CHECK_FALSE(result.timed_out);
  CHECK_FALSE(result.succeeded());
  CHECK(result.output_tail == "out\nerr\ngreen /\n");
  CHECK(seen == result.output_tail);
  CHECK(result.output_bytes == 16);
  CHECK(ending_text(request, result) == "exited with code 3");
  CHECK(run_child(shell("true")).succeeded());
}

TEST_CASE("standard input is empty, so a child that reads it does not wait") {
  CHECK(run_child(shell("cat; echo end")).output_tail == "end\n");
}

TEST_CASE("the signal that ended a child is named") {
  const auto result = run_child(shell("kill -SEGV $$"));
  CHECK(result.exit_code == -1);
  CHECK(result.signal == SIGSEGV);
  CHECK(ending_of(shell("kill -KILL $$")) == "was ended by signal 9 (SIGKILL)");
  CHECK(ending_of(shell("kill -ABRT $$")) == "was ended by signal 6 (SIGABRT)");
}

TEST_CASE("past its time limit a child is ended, and what it had written is kept") {
  auto request = shell("echo begun; sleep 60");
  request.time_limit = 0.2;
  const auto result = run_child(request);
  CHECK(result.timed_out);
  CHECK(result.signal == SIGTERM);
  CHECK(result.output_tail == "begun\n");
  CHECK(result.seconds >= 0.2);
  CHECK(result.seconds < 20);
  CHECK(ending_text(request, result) == "was still running after 0.2 s");
}

TEST_CASE("a child that does not listen to SIGTERM is killed after the grace") {
  auto request = shell("trap '' TERM; while :; do sleep 0.1; done");
  request.time_limit = 0.2;
  request.grace = 0.3;
  const auto result = run_child(request);
  CHECK(result.timed_out);
  CHECK(result.signal == SIGKILL);
  CHECK(result.seconds >= 0.5);
  CHECK(result.seconds < 20);
}

TEST_CASE("a child may end in order when it is told to, and has still run out of time") {
  auto request = shell("trap 'echo closing; exit 0' TERM; while :; do sleep 0.05; done");
  request.time_limit = 0.3;
  const auto result = run_child(request);
  CHECK(result.exit_code == 0);
  CHECK(result.output_tail.ends_with("closing\n"));  // the shell may tell of its own child before
  CHECK_FALSE(result.succeeded());
}

TEST_CASE("the whole group ends with the child: in time, past the limit and at an exception") {
  const auto file = scratch_file("pid");
  const std::string start = "sleep 60 & echo $! > '" + file.string() + "'; ";
  auto request = shell(start);
  SECTION("in time") { CHECK(run_child(request).succeeded()); }
  SECTION("past the limit") {
    request = shell(start + "wait");
    request.time_limit = 0.3;
    CHECK(run_child(request).timed_out);
  }
  SECTION("at an exception") {
    request = shell(start + "wait");
    request.while_waiting = [&] {
      if (std::filesystem::exists(file) && std::filesystem::file_size(file) > 0) throw std::runtime_error("stop");
    };
    CHECK_THROWS_WITH(run_child(request), "stop");
  }
  pid_t pid = 0;
  std::ifstream(file) >> pid;
  REQUIRE(pid > 0);
  CHECK(is_gone(pid));
  std::filesystem::remove(file);
}

TEST_CASE("a process that has left the group and holds the output open does not keep the run waiting") {
  const auto result = run_child(shell("setsid sleep 30 & echo done"));
  CHECK(result.succeeded());
  CHECK(result.output_tail == "done\n");
  CHECK(result.seconds < 20);
}

TEST_CASE("of a long output the end is kept, and all of it is counted") {
  auto request = shell("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done");
  request.tail_bytes = 24;
  const auto result = run_child(request);
  CHECK(result.output_tail == "line 19998\nline 19999\n");
  CHECK(result.output_bytes == 208890);  // 20,000 × 6 + digits: 10 + 180 + 2,700 + 36,000 + 50,000
}

TEST_CASE("the child's memory is measured, not the one of the process that started it") {
  const std::string ballast(std::size_t{256} << 20, 'x');
  const auto small = run_child(shell("sleep 0.2"));
  CHECK(small.memory.rss_bytes > 0);
  CHECK(small.memory.rss_bytes < (std::int64_t{64} << 20));
  CHECK(small.memory.private_bytes > 0);
  CHECK(small.memory.private_bytes < small.memory.rss_bytes);
  CHECK(ballast.back() == 'x');
}

TEST_CASE("a program that cannot be started says why, and so does a folder") {
  CHECK_THROWS_WITH(run_child({.argv = {"no-such-program"}}),
                    "'no-such-program' cannot be started: No such file or directory");
  CHECK_THROWS_WITH(run_child({.argv = {"/etc/passwd"}}), "'/etc/passwd' cannot be started: Permission denied");
  auto request = shell("true");
  request.folder = "/no/such/folder";
  CHECK_THROWS_WITH(run_child(request),
                    "'sh' cannot be started in the folder '/no/such/folder': No such file or directory");
  CHECK_THROWS_WITH(run_child({}), "a command without a word cannot be started");
}

TEST_CASE("nothing of what a child inherits is blocked or ignored, so a pipe that closes ends it") {
  std::signal(SIGPIPE, SIG_IGN);
  const auto result = run_child(shell("sh -c 'kill -PIPE $$; echo alive'"));
  std::signal(SIGPIPE, SIG_DFL);
  CHECK(result.output_tail.find("alive") == std::string::npos);
}

TEST_CASE("at the time limit what the child has started ends too, in another group or session as well") {
  const auto file = scratch_file("session");
  auto request = shell("setsid sh -c 'echo $$ > " + file.string() + "; trap \"\" TERM; sleep 60; sleep 60' & sleep 60");
  request.time_limit = 0.5;
  request.grace = 0.2;
  CHECK(run_child(request).timed_out);
  pid_t pid = 0;
  std::ifstream(file) >> pid;
  REQUIRE(pid > 0);
  CHECK(is_gone(pid));
  std::filesystem::remove(file);
}
