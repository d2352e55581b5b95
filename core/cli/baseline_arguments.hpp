#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "baseline/baseline.hpp"
#include "cli/command_line.hpp"
#include "pipeline/plan.hpp"

namespace lockstep::cli {

/// `--baseline FILE`, `--update-baseline` and `--reason TEXT`.
class BaselineArguments {
 public:
  /// Reads the file; what is wrong goes to the diagnostics of `result`, so that nothing runs.
  BaselineArguments(const Arguments& arguments, PlanResult& result);

  [[nodiscard]] const std::optional<std::filesystem::path>& file() const { return file_; }
  /// Holds the run against the baseline, or updates that. Nothing happens without `--baseline`.
  void apply(RunRecord& record) const;
  /// The same of what no row can tell: that the baseline has rows which the matrix does not have. For a run, or the
  /// summary of one, of all rows.
  void apply_to_matrix(RunRecord& record) const;

 private:
  std::optional<std::filesystem::path> file_;
  std::optional<Baseline> baseline_;
  bool update_ = false;
  std::optional<std::string> reason_;
};

}  // namespace lockstep::cli
