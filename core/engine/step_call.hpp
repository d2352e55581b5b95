#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lockstep/context.hpp>
#include <lockstep/diagnostic.hpp>

#include "engine/record.hpp"
#include "pipeline/plan.hpp"
#include "process/process_memory.hpp"

namespace lockstep {

/// How the process of an isolated step ended instead of answering.
struct Crash {
  std::string reason;  ///< "was ended by signal 11 (SIGSEGV) in …/toy.crash.so"
  std::string code;    ///< S005, S006
  std::string help;
  std::vector<std::string> output_tail;  ///< the last lines that it wrote
};

/// What came of a call of `Step::run`, beside what the step said through its context, checks and outputs.
struct StepCall {
  std::optional<Diagnostic> failure;  ///< it ended in ERROR
  std::optional<Crash> crash;
  bool interrupted = false;
  std::optional<PeakMemory> memory;                          ///< of another process
  std::vector<OutputRecord> kept_outputs;                    ///< set, in another process, and not to be had from there
  std::vector<std::pair<std::string, Tensor>> kept_tensors;  ///< of those, for a dump
};

/// The name that a dump gives to a tensor of an output.
[[nodiscard]] std::string dump_name(const std::string& output, std::string_view tensor);

/// Calls `run` in this process, inside the environment hook of its plugin. Throws nothing.
[[nodiscard]] StepCall call_step(PlannedStep& planned, StepContext& context);

}  // namespace lockstep
