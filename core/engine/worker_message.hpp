#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lockstep/check.hpp>

#include "engine/tensor_memory.hpp"

namespace lockstep {

// What the process of a run and the process of an isolated step say to each other, once in each direction. Plain data.

using PlacedTensors = std::vector<std::pair<std::string, PlacedTensor>>;

/// A step for the new process to run.
struct WorkerStep {
  /// What an input gets: output `output` of `step`, or the given result number `given`.
  struct Wire {
    std::string input;
    std::optional<std::size_t> given;
    std::size_t step = 0;  ///< index in WorkerRequest::steps
    std::string output;
  };
  std::string id;
  std::string uses;
  std::string file;      ///< of the plugin, absolute
  std::string build_id;  ///< of the plugin that the run has opened
  std::vector<std::pair<std::string, Value>> parameters;
  std::vector<CheckSettings> checks;  ///< in the order of the declarations
  std::vector<Wire> wires;
};

struct WorkerRequest {
  std::uint64_t seed = 0;
  std::string kernels;
  std::optional<int> threads;        ///< none: "auto", and not set yet
  bool automatic_threads = false;    ///< "auto"
  std::string threads_set_by;        ///< id of the step that set them
  bool libtorch_used = false;        ///< by a step before this one
  bool dump = false;                 ///< the tensors of outputs that cannot be sent are wanted too
  std::vector<WorkerStep> steps;     ///< the last one is the isolated step, the others are computed again for it
  std::vector<PlacedTensors> given;  ///< results that are sent
};

/// What came of the isolated step's call.
struct WorkerAnswer {
  struct Failure {
    std::string code;
    std::string message;
    std::string help;
    std::string did_you_mean;
  };
  /// A tensor of an output: in the memory that was given, or in that of the answer.
  struct OutputTensor {
    std::string name;
    bool is_given = false;
    PlacedTensor place;
  };
  struct Output {
    std::string name;
    bool is_sent = false;  ///< else it stays in the other process; `tensors` are what it shows
    std::vector<OutputTensor> tensors;
  };
  /// A step may leave out a check as it runs, so the settings come back too.
  struct Check {
    CheckSettings settings;
    std::vector<CheckResult> results;
  };
  std::optional<Failure> failure;
  bool interrupted = false;
  std::optional<std::string> skip;
  std::optional<std::string> summary;
  std::vector<std::pair<std::string, Value>> environment;
  std::vector<std::pair<std::string, Value>> fields;
  std::optional<int> threads;  ///< that the step has set
  std::int64_t peak_rss_bytes = 0;
  std::int64_t peak_private_bytes = 0;
  std::vector<Check> checks;    ///< in the order of the declarations
  std::vector<Output> outputs;  ///< those that are set
};

// As bytes (CBOR) and back; numbers and texts of any kind stay as they are. Reading throws Error if the bytes are not
// what was written.
[[nodiscard]] LOCKSTEP_API std::string to_bytes(const WorkerRequest& request);
[[nodiscard]] LOCKSTEP_API std::string to_bytes(const WorkerAnswer& answer);
[[nodiscard]] LOCKSTEP_API WorkerRequest request_from(std::string_view bytes);
[[nodiscard]] LOCKSTEP_API WorkerAnswer answer_from(std::string_view bytes);

}  // namespace lockstep
