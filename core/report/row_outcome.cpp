#include "report/row_outcome.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "engine/verdict.hpp"
#include "pipeline/exit_code.hpp"
#include "report/consistency.hpp"
#include "report/summary.hpp"

namespace lockstep {
namespace {

/// Why the record is not that of this row in this run, in words that go on after "and its record"; none if it is.
std::optional<std::string> foreign(const RunRecord& run, const MatrixRow& row, const RunRecord& record) {
  if (record.run_id != run.run_id) return "is of another run";
  if (record.row != row) return "is of another row";
  if (const auto what = difference_in_setup(run, record)) return fmt::format("differs in {}", *what);
  return std::nullopt;
}

/// A process that said it went well, and left no record that says so, was ended by something in it.
int code_without_record(const RowEnding& ending) {
  const auto code = ending.code.value_or(exit_code::interrupted);
  return code == exit_code::passed || code == exit_code::failed ? exit_code::crashed : code;
}

}  // namespace

RowSummary row_outcome(const RunRecord& run, const MatrixRow& row, const RowEnding& ending,
                       const std::optional<RunRecord>& record) {
  RowSummary summary;
  const auto end_by_process = [&](int code, const std::string& more) {
    summary.row = row;
    summary.run_id = run.run_id;
    summary.exit_code = code;
    summary.verdict = verdict_of_exit_code(code);
    summary.message = fmt::format("the row's process {}{}", ending.text, more);
    return summary;
  };
  if (!record) return end_by_process(code_without_record(ending), " and left no record");
  if (const auto why = foreign(run, row, *record))
    return end_by_process(std::max(ending.code.value_or(exit_code::interrupted), exit_code::error),
                          ", and its record " + *why);
  summary = summary_of(*record);
  if (record->verdict == RunVerdict::incomplete) return end_by_process(code_without_record(ending), "");
  if (const auto why = contradiction_in(*record))
    return end_by_process(std::max({ending.code.value_or(0), record->exit_code, exit_code::error}), ", and " + *why);
  if (ending.code.value_or(record->exit_code) != record->exit_code)
    return end_by_process(std::max({*ending.code, record->exit_code, exit_code::error}),
                          fmt::format(" after its record had said {}", name_of(record->verdict)));
  return summary;
}

}  // namespace lockstep
