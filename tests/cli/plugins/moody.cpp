#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <lockstep/step.hpp>

namespace {
using namespace lockstep;

/// Ends in the way that its parameter says.
struct Moody final : Step {
  Param<std::string> how{*this,
                         "how",
                         "how it ends",
                         {.choices = {"throws", "skips", "idles", "waits", "sleeps", "exits", "forks", "dies",
                                      "dies_late", "segfaults", "aborts", "forks_and_aborts", "prints"}}};
  Param<std::string> marker{*this, "marker", "a file that it creates while it waits", {.default_value = ""}};
  Out<Tensor> nothing{*this, "nothing", "never set", optional};
  Check forgotten{*this, "forgotten", bits(), "nothing"};

  void run(StepContext& context) override {
    if (*how == "throws")
      throw Error{"config.json: hidden_size is 0,\nexpected a positive integer", "correct the \x1b[31mcheckpoint"};
    if (*how == "skips") context.skip("no picture in the prompt");
    if (*how == "exits") std::exit(0);
    for (int i = 0; i < 20000 && *how == "prints"; ++i) std::printf("line %d\n", i);
    if (*how == "dies") std::raise(SIGKILL);
    if (*how == "segfaults") std::raise(SIGSEGV);
    if (*how == "aborts") std::abort();
    if (*how == "forks_and_aborts" && fork() == 0) std::abort();
    if (*how == "forks_and_aborts") wait(nullptr);
    if (*how == "dies_late") std::atexit([] { std::raise(SIGKILL); });
    if (*how == "forks") {
      const auto child = fork();
      if (child == 0) std::exit(0);
      int status = -1;
      waitpid(child, &status, 0);
      if (status != 0) throw Error{"the child did not exit with 0"};
    }
    if (*how == "waits" || *how == "sleeps") std::ofstream(*marker) << "here";
    while (*how == "waits" && std::ifstream(*marker)) {
      context.progress(3, 35, "layers");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (*how == "sleeps") std::this_thread::sleep_for(std::chrono::minutes(2));
  }
};
}  // namespace

LOCKSTEP_STEP("toy.moody", Moody, "ends as it is told")
