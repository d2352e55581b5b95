#include <lockstep/step.hpp>

#include <fmt/format.h>

#include "recording/recorded_reference.hpp"
#include "steps/fingerprint_here.hpp"

namespace {
using namespace lockstep;

/// Publishes what is right from a recording of transformers: nothing is computed, so nothing of Lockstep's own is
/// believed. It knows the recorded prompt and picture only, and refuses any other by name, place and values.
struct RecordedReference final : Step {
  Param<FolderPath> recording{*this, "recording", "folder that tools/record_hf.py wrote"};
  In<gemma4::Checkpoint> checkpoint{*this, "checkpoint", "the checkpoint that was recorded"};
  Out<gemma4::Reference> reference{*this, "reference", "what is right"};

  void run(StepContext& context) override {
    auto recorded = gemma4::Recording::open(recording->path);
    if (!recorded.has_file()) {
      throw Error{
          fmt::format("{}: has no reference.safetensors, so there is nothing to serve", recorded.folder().string()),
          "take a recording with its values"};
    }
    const auto dtype = std::string(name_of(recorded.dtype()));
    const auto differing = differences(recorded.fingerprint(), gemma4::fingerprint_here(context.threads()));
    context.environment("dtype", dtype);
    context.record("attention", recorded.attention());
    context.record("fingerprint_matches", differing.empty());
    context.record("fingerprint_differences", Value::Array(differing.begin(), differing.end()));
    context.summary(fmt::format("recorded in {}; {}", dtype,
                                differing.empty() ? "a machine like this one: bits can be expected"
                                                  : "another machine: bits are not to be expected of matrix products"));
    reference = gemma4::make_recorded_reference(checkpoint.shared(), std::move(recorded));
  }
};
}  // namespace

LOCKSTEP_STEP("gemma4.recorded_reference", RecordedReference, "what transformers computed, served from a recording")
