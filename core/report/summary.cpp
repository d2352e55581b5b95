#include "report/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "pipeline/exit_code.hpp"
#include "pipeline/render_diagnostic.hpp"
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

RunVerdict verdict_of(int code) {
  switch (code) {
    case exit_code::passed:
      return RunVerdict::pass;
    case exit_code::failed:
      return RunVerdict::fail;
    case exit_code::crashed:
      return RunVerdict::crashed;
    case exit_code::interrupted:
      return RunVerdict::interrupted;
    default:
      return RunVerdict::error;
  }
}

[[noreturn]] void refuse(const std::string& message, const std::string& help) {
  throw Error(Diagnostic{.code = "F005", .message = message, .help = help});
}

void check_same_run(const RunRecord& first, const RunRecord& other, const std::string& first_file,
                    const std::string& file) {
  const auto differs = [&](std::string_view what) {
    refuse(fmt::format("{} and {} differ in {}", in_quotes(first_file), in_quotes(file), what),
           "merge the records of one commit and one command line");
  };
  if (first.pipeline_sha256 != other.pipeline_sha256) differs("the pipeline's sha256");
  if (first.overrides != other.overrides) differs("their --config and --set");
  if (first.matrix != other.matrix) differs("the rows of the matrix");
}

/// A summary and the record of its row tell of one run: its time alone is like no other's.
bool is_same_run(const RowSummary& a, const RowSummary& b) {
  const auto told = [](const RowSummary& row) {
    return std::tie(row.row, row.verdict, row.exit_code, row.seconds, row.peak_rss_bytes, row.steps, row.checks);
  };
  return told(a) == told(b);
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
                 .seconds = record.seconds,
                 .peak_rss_bytes = record.peak_rss_bytes};
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
  }
  summary.verdict = verdict_of(summary.exit_code);
}

RunRecord merge_rows(const std::vector<RunRecord>& records, const std::vector<std::string>& files) {
  const auto& first = records.front();
  std::map<std::string, std::pair<RowSummary, std::string>> found;  // by name, with the file
  double seconds = 0;
  const auto add = [&](RowSummary row, const std::string& file) {
    const auto name = row.row.name;
    const auto known = found.find(name);
    if (known == found.end()) {
      seconds += row.seconds;
      found.emplace(name, std::pair(std::move(row), file));
    } else if (!is_same_run(known->second.first, row)) {
      refuse(fmt::format("row {} ran twice: it is in {} and in {}", in_quotes(name), in_quotes(known->second.second),
                         in_quotes(file)),
             "give the record of one run of each row");
    }
  };
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto& record = records[i];
    const auto& file = files[i];
    if (record.matrix.empty() || (!record.row && !record.rows))
      refuse(fmt::format("{} is not the record of a row, nor of several", in_quotes(file)),
             "only records of a pipeline with a [matrix] can be merged");
    check_same_run(first, record, files.front(), file);
    if (record.row) {
      auto row = summary_of(record);
      row.record = file;
      add(std::move(row), file);
      continue;
    }
    for (auto row : *record.rows) {
      if (row.record) row.record = (std::filesystem::path(file).parent_path() / *row.record).string();
      add(std::move(row), file);
    }
  }
  RunRecord summary{.pipeline_name = common_name(first),
                    .pipeline_file = first.pipeline_file,
                    .pipeline_sha256 = first.pipeline_sha256,
                    .overrides = first.overrides};
  summary.matrix = first.matrix;
  summary.seconds = seconds;
  summary.rows.emplace();
  std::vector<std::string> missing;
  for (const auto& name : first.matrix) {
    const auto row = found.find(name);
    if (row == found.end())
      missing.push_back(in_quotes(name));
    else
      summary.rows->push_back(row->second.first);
  }
  if (!missing.empty())
    refuse(fmt::format("{} of {} rows are in none of the records: {}", missing.size(), first.matrix.size(),
                       fmt::join(missing, ", ")),
           "a row without a record was not verified: look for the machine that should have run it");
  conclude_rows(summary);
  return summary;
}

}  // namespace lockstep
