#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <new>
#include <stdexcept>
#include <thread>

#include <lockstep/step.hpp>

namespace {
using namespace lockstep;

/// Ends in the way that its parameter says.
struct Victim final : Step {
  In<Tensor> numbers{*this, "numbers", "any tensor"};
  Param<std::string> how{*this,
                         "how",
                         "how it ends",
                         {.choices = {"passes", "segfaults", "aborts", "exits", "exits_at_once", "hangs", "is_killed",
                                      "throws_in_a_thread", "runs_out_of_memory", "throws", "throws_int", "skips",
                                      "prints", "waits", "dies_later", "sets_threads", "truncates", "fills_the_disk"}}};
  Param<std::int64_t> code{*this, "code", "of the exit", {.default_value = 0}};
  Param<std::string> marker{*this, "marker", "a file that it writes its process id to", {.default_value = ""}};
  Out<Tensor> result{*this, "result", "its input"};
  Check sum_holds{*this, "sum_holds", expect(), "holds"};

  void run(StepContext& context) override {
    if (!marker->empty()) std::ofstream(*marker) << getpid() << std::flush;
    std::printf("first words\n");
    std::fflush(stdout);
    end(context);
    sum_holds.expect(true, "");
    result = *numbers;
  }

  void end(StepContext& context) {
    if (*how == "segfaults") std::raise(SIGSEGV);
    if (*how == "aborts") std::abort();
    if (*how == "exits") std::exit(static_cast<int>(*code));
    if (*how == "exits_at_once") _exit(static_cast<int>(*code));
    if (*how == "hangs") std::this_thread::sleep_for(std::chrono::minutes(2));
    if (*how == "is_killed") std::raise(SIGKILL);
    if (*how == "throws_in_a_thread") std::thread([] { throw std::runtime_error("nobody catches this"); }).join();
    if (*how == "runs_out_of_memory") throw std::bad_alloc();
    if (*how == "throws") throw Error{"no weights", "train first"};
    if (*how == "throws_int") throw 7;
    if (*how == "skips") context.skip("no picture");
    if (*how == "sets_threads") context.set_threads(3);
    if (*how == "truncates")
      for (int descriptor = 3; descriptor < 32; ++descriptor)
        if (ftruncate(descriptor, 0) != 0) continue;
    if (*how == "fills_the_disk") {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit none{0, 0};
      setrlimit(RLIMIT_FSIZE, &none);
    }
    if (*how == "prints") {
      for (int i = 0; i < 20000; ++i) std::printf("line %d\n", i);
      std::fflush(stdout);
      std::abort();
    }
    while (*how == "waits") {
      context.progress(3, 35, "layers");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (*how == "dies_later") static const Late late;
  }

  /// Brings the process down when it ends.
  struct Late {
    Late() = default;
    Late(const Late&) = delete;
    Late& operator=(const Late&) = delete;
    ~Late() { std::abort(); }
  };
};
}  // namespace

LOCKSTEP_STEP("iso.victim", Victim, "ends as it is told")
