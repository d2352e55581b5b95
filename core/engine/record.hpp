#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/check.hpp>
#include <lockstep/diagnostic.hpp>

#include "pipeline/matrix_row.hpp"

namespace lockstep {

enum class RunVerdict { pass, fail, error, invalid, interrupted, crashed, incomplete };
enum class StepStatus { pass, fail, warn, done, skipped, error, crashed };

[[nodiscard]] LOCKSTEP_API std::string_view name_of(RunVerdict verdict) noexcept;
[[nodiscard]] LOCKSTEP_API std::string_view name_of(StepStatus status) noexcept;
/// Whether every step's entry in a record may have this field, so that no step can have one of its own of that name.
[[nodiscard]] LOCKSTEP_API bool is_field_of_step(std::string_view key) noexcept;

/// One output of a step: its port type and, for each tensor inside, dtype and shape.
struct OutputRecord {
  struct TensorInfo {
    std::string name;  ///< "" if the output is a tensor itself
    DType dtype;
    std::vector<std::int64_t> shape;
  };
  std::string name;
  std::string type;
  std::vector<TensorInfo> tensors;
};

/// One step of a run, in the order of the file.
struct StepRecord {
  std::string id;
  std::string uses;
  std::string location;     ///< "file:line:column" of the step in the pipeline, empty: not known
  std::string plugin_file;  ///< empty: not found
  std::string build_id;
  bool scored = true;
  std::optional<StepStatus> status;      ///< none until the step has ended
  std::optional<std::string> reason;     ///< of SKIPPED, ERROR and CRASHED
  std::optional<std::string> help;       ///< of ERROR
  std::optional<std::string> summary;    ///< StepContext::summary
  bool isolated = false;                 ///< it ran in a process of its own
  std::vector<std::string> output_tail;  ///< the last lines that it wrote, of CRASHED, or that a program of its wrote
  double seconds = 0;
  std::int64_t peak_rss_bytes = 0;
  std::int64_t peak_private_bytes = 0;  ///< of it what the process has allocated; 0: not known
  std::vector<std::pair<std::string, Value>> parameters;
  std::vector<std::pair<std::string, std::string>> inputs;  ///< port, "step.port"
  std::vector<OutputRecord> outputs;
  std::vector<CheckResult> checks;
  std::vector<std::pair<std::string, Value>> extra;  ///< StepContext::record
};

/// How a run stands against its baseline.
struct BaselineRecord {
  /// One check entry, or one step of which nothing else is known.
  struct Finding {
    std::string step;
    std::string check;
    std::optional<std::string> subject;
    std::string message;  ///< "close 0.52, was 0.31, at most 0.351"
  };
  std::string file;
  std::string sha256;
  std::int64_t compared = 0;          ///< entries that were held against the run
  std::vector<std::string> notes;     ///< "taken on another machine: …"
  std::vector<Finding> worse;         ///< each fails the run
  std::vector<Finding> better;        ///< `--update-baseline` would tighten these
  std::vector<Finding> unknown;       ///< checks of the run that the baseline does not have
  std::optional<std::string> update;  ///< what `--update-baseline` did
};

/// One thing for which a row did not pass, in words.
struct RowFailure {
  std::string word;      ///< "ERROR", "CRASH", "FAIL", "vacuous", "worse"
  std::string step;      ///< empty: the run as a whole
  std::string check;     ///< with its subject: "matches layer 3"; the code of a diagnostic; empty: the step itself
  std::string message;   ///< may have several lines
  std::string location;  ///< "file:line:column" where the bound was set, else of the step; empty: not known
};

/// One row of a matrix as the summary of all rows tells it.
struct RowSummary {
  MatrixRow row;
  RunVerdict verdict = RunVerdict::incomplete;
  int exit_code = 0;
  std::optional<std::string> message;  ///< why it did not pass: its first problem, or how its process ended
  std::string run_id;                  ///< of its record
  double seconds = 0;
  std::int64_t peak_rss_bytes = 0;
  std::int64_t peak_private_bytes = 0;                       ///< of it what the process has allocated; 0: not known
  std::optional<std::string> record;                         ///< its file, relative to the summary's folder
  std::vector<std::pair<std::string, std::int64_t>> steps;   ///< how many ended how: {"pass", 8}
  std::vector<std::pair<std::string, std::int64_t>> checks;  ///< how many have which verdict
  std::vector<RowFailure> failures;                          ///< the first of them, the most important ones first
  std::int64_t more_failures = 0;                            ///< how many are left out
};

/// All that is known about a run; every report is a pure function of it.
struct RunRecord {
  std::string tool_version;  ///< of the program that wrote it; empty: this one
  std::string pipeline_name;
  std::string common_name;  ///< the same of every row of a matrix; empty: `pipeline_name`
  std::string pipeline_file;
  std::string pipeline_sha256;
  std::vector<std::string> overrides;
  std::vector<std::string> config_sha256;
  std::vector<std::string> selection;
  std::string run_id;  ///< of one row of several: the same in all rows of that run, and in no other's; else empty
  std::vector<std::pair<std::string, Value>> environment;
  RunVerdict verdict = RunVerdict::incomplete;
  int exit_code = 0;
  std::optional<std::string> message;  ///< "nothing was verified"
  double seconds = 0;
  std::int64_t peak_rss_bytes = 0;
  std::int64_t peak_private_bytes = 0;  ///< of it what the process has allocated; 0: not known
  std::optional<BaselineRecord> baseline;
  std::vector<Diagnostic> diagnostics;
  std::vector<StepRecord> steps;
  std::vector<std::string> matrix;              ///< names of every row of the pipeline's matrix; empty: it has none
  std::optional<MatrixRow> row;                 ///< the row that ran; none in a summary
  std::optional<std::vector<RowSummary>> rows;  ///< of a summary
};

/// The pipeline's name, the same of every row of its matrix.
[[nodiscard]] LOCKSTEP_API const std::string& common_name(const RunRecord& record) noexcept;

}  // namespace lockstep
