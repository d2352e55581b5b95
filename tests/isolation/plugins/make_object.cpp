#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include <lockstep/step.hpp>

#include "object.hpp"

namespace {
using namespace lockstep;

/// Makes an object and notes in a file in which process.
struct MakeObject final : Step {
  Param<std::int64_t> value{*this, "value", "what it holds"};
  Param<std::string> log{*this, "log", "a file that each process adds a line to", {.default_value = ""}};
  Param<bool> dies_again{*this, "dies_again", "aborts where it is not the first", {.default_value = false}};
  In<Tensor> numbers{*this, "numbers", "any tensor"};
  Out<iso::Object> object{*this, "object", "cannot be sent"};

  void run(StepContext&) override {
    if (*dies_again && std::ifstream(*log).peek() != std::ifstream::traits_type::eof()) std::abort();
    if (!log->empty()) std::ofstream(*log, std::ios::app) << getpid() << "\n" << std::flush;
    object = iso::Object{*value + numbers->numel(), getpid()};
  }
};
}  // namespace

LOCKSTEP_STEP("iso.make_object", MakeObject, "makes an object")
