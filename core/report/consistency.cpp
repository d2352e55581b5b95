#include "report/consistency.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <set>

#include "engine/verdict.hpp"
#include "pipeline/exit_code.hpp"
#include "pipeline/render_diagnostic.hpp"

namespace lockstep {
namespace {

std::optional<std::string> contradiction_in(RunVerdict verdict, int code) {
  if (verdict == RunVerdict::incomplete ? code != exit_code::passed : verdict_of_exit_code(code) == verdict)
    return std::nullopt;
  return fmt::format("its verdict is {} and its exit code {}", name_of(verdict), code);
}

/// What keeps a run with this step from passing.
std::optional<std::string> not_passed(const StepRecord& step) {
  const auto says = [&step](std::string_view what) {
    return fmt::format("its verdict is pass and step {} {}", in_quotes(step.id), what);
  };
  if (!step.status) return says("has not ended");
  if (step.status == StepStatus::error || step.status == StepStatus::crashed) return says(name_of(*step.status));
  if (!step.scored) return std::nullopt;
  if (step.status == StepStatus::fail || std::ranges::count(step.checks, Verdict::fail, &CheckResult::verdict) > 0)
    return says("failed");
  return std::nullopt;
}

std::optional<std::string> contradiction_in(const RowSummary& row) {
  if (auto found = contradiction_in(row.verdict, row.exit_code)) return found;
  if (row.verdict != RunVerdict::pass) return std::nullopt;
  for (const auto& [status, count] : row.steps)
    if ((status == name_of(StepStatus::error) || status == name_of(StepStatus::crashed)) && count > 0)
      return fmt::format("its verdict is pass and a step's status {}", status);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> difference_in_setup(const RunRecord& a, const RunRecord& b) {
  if (a.pipeline_sha256 != b.pipeline_sha256) return "the pipeline's sha256";
  if (a.overrides != b.overrides) return "their --config and --set";
  if (a.config_sha256 != b.config_sha256) return "what their --config files hold";
  if (a.selection != b.selection) return "their --only, --from, --to and --skip";
  if (a.matrix != b.matrix) return "the rows of the matrix";
  return std::nullopt;
}

std::optional<std::string> contradiction_in(const RunRecord& record) {
  if (auto found = contradiction_in(record.verdict, record.exit_code)) return found;
  if (record.verdict == RunVerdict::pass) {
    for (const auto& step : record.steps)
      if (auto found = not_passed(step)) return found;
  }
  const std::set<std::string_view> matrix(record.matrix.begin(), record.matrix.end());
  const auto stranger = [](const MatrixRow& row) {
    return fmt::format("its matrix has no row {}", in_quotes(row.name));
  };
  if (record.row && !matrix.contains(record.row->name)) return stranger(*record.row);
  std::set<std::string_view> seen;
  for (const auto& row : record.rows.value_or(std::vector<RowSummary>{})) {
    if (!matrix.contains(row.row.name)) return stranger(row.row);
    if (!seen.insert(row.row.name).second) return fmt::format("it has row {} twice", in_quotes(row.row.name));
    if (const auto found = contradiction_in(row)) return fmt::format("of row {}: {}", in_quotes(row.row.name), *found);
    if (record.verdict == RunVerdict::pass && row.verdict != RunVerdict::pass)
      return fmt::format("its verdict is pass and that of row {} {}", in_quotes(row.row.name), name_of(row.verdict));
  }
  return std::nullopt;
}

}  // namespace lockstep
