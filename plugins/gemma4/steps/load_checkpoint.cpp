#include <lockstep/step.hpp>

#include "checkpoint/checkpoint.hpp"

namespace {
using namespace lockstep;

/// Opens a checkpoint folder and checks its configuration and every tensor against each other.
struct LoadCheckpoint final : Step {
  Param<FolderPath> path{*this, "path", "checkpoint folder in Hugging Face's layout"};
  Out<gemma4::Checkpoint> checkpoint{*this, "checkpoint", "checked configuration and mapped weights"};

  void run(StepContext& context) override {
    auto opened = gemma4::Checkpoint::open(path->path);
    context.environment("checkpoint", opened.name());
    context.summary(opened.name() + ", " + summary_of(opened));
    checkpoint = std::move(opened);
  }
};
}  // namespace

LOCKSTEP_STEP("gemma4.load_checkpoint", LoadCheckpoint, "opens a Gemma 4 checkpoint and checks every tensor")
