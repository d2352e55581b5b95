#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/step.hpp>

#include "pipeline/matrix_row.hpp"

namespace lockstep {

/// What a plugin search gave for one step of a pipeline; the binder asks for it and never opens libraries itself.
struct StepHandle {
  std::shared_ptr<Step> step;  ///< a fresh object, declarations filled in
  std::filesystem::path file;  ///< absolute path of the plugin
  std::string build_id;        ///< hex, "" if the linker wrote none
  const PluginEntry* entry = nullptr;
};

/// The binder's view of the loader.
class StepCatalog {
 public:
  enum class Outcome { loaded, not_found, not_loadable };
  struct Lookup {
    Outcome outcome = Outcome::not_found;
    StepHandle handle = {};      ///< if loaded
    Diagnostic diagnostic = {};  ///< if not loaded: without a location; the binder adds it
  };

  virtual ~StepCatalog() = default;
  /// `plugin` is the explicit file of the step, empty if there is none.
  virtual Lookup find(const std::string& uses, const std::filesystem::path& plugin) = 0;
  /// Names that could have been meant: the step names of all files in the search folders, nothing is opened.
  virtual std::vector<std::string> names() = 0;
};

/// One wire of the plan.
struct PlannedWire {
  std::string input;       ///< port of the reading step
  std::size_t step = 0;    ///< index of the producing step in Plan::steps
  std::string output;      ///< its port
  bool inferred = false;   ///< bound by name and type, not written
  Location location = {};  ///< where it was written
};

struct PlannedParameter {
  std::string name;
  Value value;         ///< resolved; monostate for an optional parameter that was not given
  std::string origin;  ///< "default" or "file:line:column"
};

/// `isolation = "process"`: the step runs in a process of its own.
struct PlannedIsolation {
  std::optional<double> time_limit;  ///< seconds
  Location location = {};            ///< of the value
};

struct PlannedStep {
  std::string id;
  std::string uses;
  std::optional<std::string> skip;   ///< the reason of `skip` (or "--skip")
  std::optional<StepHandle> handle;  ///< none only for a step with `skip` whose plugin was not found or does not load
  std::vector<PlannedParameter> parameters;
  std::vector<PlannedWire> wires;             ///< bound inputs only
  std::optional<PlannedIsolation> isolation;  ///< none: in the process of the run
  Location location = {};
};

struct PlannedEnvironment {
  std::optional<int> threads;  ///< none: "auto", one step sets it
  std::uint64_t seed = 0;
  std::string kernels = "auto";  ///< or "torch": none but LibTorch's
};

/// A pipeline, or one row of its matrix, with every reference resolved, every parameter assigned to its step object and
/// every check configured.
struct Plan {
  std::string name;
  std::string common_name;  ///< the same of every row of a matrix: with `${matrix.x}` as it is written
  std::string description;
  std::string file;                        ///< as given on the command line
  std::string sha256;                      ///< of the pipeline file's bytes
  std::vector<std::string> overrides;      ///< "--config configs/e2b.toml", "--set max_seq=256", in order
  std::vector<std::string> config_sha256;  ///< of the bytes of each `--config` file, in order
  std::vector<std::string> selection;      ///< "--only compare", "--skip slow": which steps run
  std::string run_id;                      ///< as requested
  PlannedEnvironment environment;
  std::vector<PlannedStep> steps;
  std::optional<MatrixRow> row;       ///< none without a matrix
  std::vector<std::string> all_rows;  ///< names of every row of the matrix, selected or not
};

/// The command line's part of a pipeline.
struct PipelineRequest {
  std::filesystem::path file;
  std::vector<std::filesystem::path> configs;
  std::vector<std::string> sets;                    ///< "KEY=VALUE"
  std::vector<std::string> skips;                   ///< step ids of --skip
  std::vector<std::string> rows = {};               ///< --row: names of rows, or parts such as "dtype=float32"
  std::optional<std::string> shard = std::nullopt;  ///< --shard: "I/N"
  /// --only, --from and --to, which leave out the rows of a matrix that have no such step. What a plan has of it is not
  /// looked at here.
  std::vector<std::string> only = {};
  std::optional<std::string> from = std::nullopt;
  std::optional<std::string> to = std::nullopt;
  std::string run_id = {};  ///< what the record is to be known by
};

/// A plan, or everything that is wrong with it, found before anything runs.
struct PlanResult {
  Plan plan;  ///< of the first selected row; name, file, sha256 and overrides are filled in as far as they are known
  std::vector<std::string> step_ids = {};  ///< of every row of the matrix, selected or not
  std::vector<MatrixRow> rows = {};        ///< the selected rows; none without a matrix, or in a shard that gets none
  std::vector<Diagnostic> diagnostics;     ///< sorted by place; errors make the plan unusable
  std::size_t unloadable = 0;              ///< how many of the errors are about plugins that do not load
  [[nodiscard]] LOCKSTEP_API bool ok() const noexcept;
  /// 0, 2 (invalid) or 3 (a plugin that the pipeline uses cannot be loaded); 2 wins.
  [[nodiscard]] LOCKSTEP_API int exit_code() const noexcept;
};

/// Sees the plan of each selected row, in order, the only plan of a pipeline without a matrix; what else is wrong with
/// it goes to the list.
using PlanVisitor = std::function<void(const Plan&, std::vector<Diagnostic>&)>;

/// Reads, merges, expands the matrix, and for each selected row substitutes, binds and validates. What is wrong in
/// several rows is reported once and says in which. Throws nothing for bad input.
[[nodiscard]] LOCKSTEP_API PlanResult make_plan(const PipelineRequest& request, StepCatalog& catalog,
                                                const PlanVisitor& visit = {});

}  // namespace lockstep
