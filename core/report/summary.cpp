#include "report/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "engine/verdict.hpp"
#include "pipeline/exit_code.hpp"
#include "pipeline/render_diagnostic.hpp"
#include "report/consistency.hpp"
#include "report/problems.hpp"

namespace lockstep {
namespace {

/// Counts in the order in which the names came up first.
class Counts {
 public:
  void add(std::string_view name) {
    const auto found =
        std::ranges::find(counts_, name, [](const auto& entry) { return std::string_view(entry.first); });
    if (found == counts_.end())
      counts_.emplace_back(name, 1);
    else
      ++found->second;
  }
  [[nodiscard]] std::vector<std::pair<std::string, std::int64_t>> take() { return std::move(counts_); }

 private:
  std::vector<std::pair<std::string, std::int64_t>> counts_;
};

int code_of_row(int code) {
  const bool could_not_start = code == exit_code::invalid || code == exit_code::not_loadable;
  return could_not_start ? exit_code::error : code;
}

[[noreturn]] void refuse(const std::string& message, const std::string& help) {
  throw Error(Diagnostic{.code = "F005", .message = message, .help = help});
}

/// Puts together what records and summaries tell of rows.
class Merge {
 public:
  void add(const RunRecord& record, const std::string& file) {
    if (record.row) {
      auto row = summary_of(record);
      row.record = file;
      add(std::move(row), file, false);
    }
    if (!record.rows) return;
    int worst = exit_code::passed;
    for (auto row : *record.rows) {
      worst = std::max(worst, code_of_row(row.exit_code));
      if (row.record) row.record = (std::filesystem::path(file).parent_path() / *row.record).string();
      add(std::move(row), file, true);
    }
    if (record.exit_code <= worst) return;
    // A report could not be written, or a row is gone from the baseline: no row tells that.
    exit_code_ = std::max(exit_code_, record.exit_code);
    messages_.push_back(fmt::format("{}: {}{}", file, name_of(record.verdict),
                                    record.message ? ", " + *record.message : std::string()));
    for (const auto& diagnostic : record.diagnostics)
      if (diagnostic.severity == Severity::error) diagnostics_.push_back(diagnostic);
  }

  /// The summary of `matrix`, every row of which must have been told of.
  [[nodiscard]] RunRecord take(RunRecord summary) {
    summary.rows.emplace();
    std::vector<std::string> missing;
    for (const auto& name : summary.matrix) {
      const auto told = rows_.find(name);
      if (told == rows_.end()) {
        missing.push_back(in_quotes(name));
        continue;
      }
      summary.seconds += told->second.row.seconds;
      summary.rows->push_back(told->second.row);
    }
    if (!missing.empty())
      refuse(fmt::format("{} of {} rows are in none of the records: {}", missing.size(), summary.matrix.size(),
                         fmt::join(missing, ", ")),
             "a row without a record was not verified: look for the machine that should have run it");
    summary.diagnostics = std::move(diagnostics_);
    if (!messages_.empty()) summary.message = fmt::format("{}", fmt::join(messages_, "; "));
    conclude_rows(summary);
    if (exit_code_ > summary.exit_code) {
      summary.exit_code = exit_code_;
      summary.verdict = verdict_of_exit_code(exit_code_);
    }
    return summary;
  }

 private:
  struct Told {
    RowSummary row;
    std::string file;
    bool by_summary;  ///< which knows how the row's process ended, as the row's own record does not
  };

  /// The same run of a row may be told of twice: by its record and by a summary, whose word wins, or by two summaries.
  void add(RowSummary row, const std::string& file, bool by_summary) {
    const auto found = rows_.find(row.row.name);
    if (found == rows_.end()) {
      auto name = row.row.name;
      rows_.emplace(std::move(name), Told{std::move(row), file, by_summary});
      return;
    }
    auto& known = found->second;
    const bool one_run = !row.run_id.empty() && row.run_id == known.row.run_id && by_summary != known.by_summary;
    if (!one_run && !tell_the_same(known.row, row))
      refuse(fmt::format("row {} ran twice: it is in {} and in {}", in_quotes(row.row.name), in_quotes(known.file),
                         in_quotes(file)),
             "give the record of one run of each row");
    if (by_summary && !known.by_summary) known = {std::move(row), file, true};
  }

  static bool tell_the_same(const RowSummary& a, const RowSummary& b) {
    const auto told = [](const RowSummary& row) {
      return std::tie(row.row, row.run_id, row.verdict, row.exit_code, row.seconds, row.peak_rss_bytes, row.steps,
                      row.checks);
    };
    return told(a) == told(b);
  }

  std::map<std::string, Told> rows_;
  int exit_code_ = exit_code::passed;
  std::vector<std::string> messages_;
  std::vector<Diagnostic> diagnostics_;
};

void check_belongs(const RunRecord& record, const std::string& file, const RunRecord& first,
                   const std::string& first_file) {
  if (record.matrix.empty() || (!record.row && !record.rows))
    refuse(fmt::format("{} is not the record of a row, nor of several", in_quotes(file)),
           "only records of a pipeline with a [matrix] can be merged");
  if (const auto what = difference_in_setup(first, record))
    refuse(fmt::format("{} and {} differ in {}", in_quotes(first_file), in_quotes(file), *what),
           "merge the records of one commit and one command line");
  if (record.rows && record.verdict == RunVerdict::incomplete)
    refuse(fmt::format("{} is incomplete: its run ended before it had told of its rows", in_quotes(file)),
           "run those rows again");
  if (const auto why = contradiction_in(record))
    refuse(fmt::format("{} cannot be believed: {}", in_quotes(file), *why),
           "a record is merged as lockstep wrote it; look for what changed it");
}

/// Why a run did not pass, in a line.
std::optional<std::string> message_of(const RunRecord& record) {
  const auto problems = problems_of(record);
  if (record.verdict == RunVerdict::pass || problems.empty() || problems.front().kind == Problem::Kind::warning)
    return record.message;
  return line_of(problems.front());
}

}  // namespace

RowSummary summary_of(const RunRecord& record) {
  RowSummary row{.row = record.row.value_or(MatrixRow{}),
                 .verdict = record.verdict,
                 .exit_code = record.exit_code,
                 .message = message_of(record),
                 .run_id = record.run_id,
                 .seconds = record.seconds,
                 .peak_rss_bytes = record.peak_rss_bytes,
                 .peak_private_bytes = record.peak_private_bytes};
  if (record.verdict == RunVerdict::incomplete) {
    row.verdict = RunVerdict::crashed;
    row.exit_code = exit_code::crashed;
    row.message = "its record is incomplete: the process ended before the run did";
  }
  Counts steps;
  Counts checks;
  for (const auto& step : record.steps) {
    if (step.status) steps.add(name_of(*step.status));
    for (const auto& check : step.checks)
      if (check.verdict) checks.add(name_of(*check.verdict));
  }
  row.steps = steps.take();
  row.checks = checks.take();
  constexpr std::size_t most_failures = 10;  // as many as GitHub shows
  for (const auto& problem : problems_of(record)) {
    if (problem.kind == Problem::Kind::warning) continue;
    if (row.failures.size() < most_failures)
      row.failures.push_back(in_words(problem));
    else
      ++row.more_failures;
  }
  return row;
}

void conclude_rows(RunRecord& summary) {
  summary.exit_code = exit_code::passed;
  for (const auto& row : summary.rows.value()) {
    summary.exit_code = std::max(summary.exit_code, code_of_row(row.exit_code));
    summary.peak_rss_bytes = std::max(summary.peak_rss_bytes, row.peak_rss_bytes);
    summary.peak_private_bytes = std::max(summary.peak_private_bytes, row.peak_private_bytes);
  }
  summary.verdict = verdict_of_exit_code(summary.exit_code);
}

RunRecord merge_rows(const std::vector<RunRecord>& records, const std::vector<std::string>& files) {
  const auto& first = records.front();
  Merge merge;
  for (std::size_t i = 0; i < records.size(); ++i) {
    check_belongs(records[i], files[i], first, files.front());
    merge.add(records[i], files[i]);
  }
  RunRecord summary{.pipeline_name = common_name(first),
                    .pipeline_file = first.pipeline_file,
                    .pipeline_sha256 = first.pipeline_sha256,
                    .overrides = first.overrides,
                    .config_sha256 = first.config_sha256,
                    .selection = first.selection};
  summary.matrix = first.matrix;
  return merge.take(std::move(summary));
}

}  // namespace lockstep
