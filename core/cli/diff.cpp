#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/records.hpp"
#include "cli/terminal_io.hpp"
#include "cli/verbs.hpp"
#include "pipeline/exit_code.hpp"
#include "report/read_record.hpp"
#include "report/record_diff_text.hpp"

namespace lockstep::cli {
namespace {

/// The record of a row, which lies beside its summary; none if it does not.
std::optional<RunRecord> record_beside(const std::string& summary, const RowSummary& row) {
  if (!row.record || summary == "-") return std::nullopt;
  try {
    return read_record_file(std::filesystem::path(summary).parent_path() / *row.record);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Adds what moved inside of the rows that both summaries have. The names of those whose records are not there.
std::vector<std::string> add_rows(const std::string& before_file, const RunRecord& before,
                                  const std::string& after_file, const RunRecord& after,
                                  std::vector<RecordChange>& changes) {
  std::vector<std::string> missing;
  const std::vector<RowSummary> none;
  const auto& others = after.rows ? *after.rows : none;
  for (const auto& row : before.rows ? *before.rows : none) {
    const auto other = std::ranges::find(
        others, row.row.name, [](const RowSummary& each) -> auto& { return each.row.name; });
    if (other == others.end()) continue;
    const auto a = record_beside(before_file, row);
    const auto b = record_beside(after_file, *other);
    if (!a || !b) {
      missing.push_back(row.row.name);
      continue;
    }
    for (auto& change : diff_records(*a, *b)) {
      using Group = RecordChange::Group;
      const bool of_run = change.step.empty();
      if (of_run && (change.group == Group::verdict || change.group == Group::information)) continue;  // of the row
      change.row = row.row.name;
      changes.push_back(std::move(change));
    }
  }
  std::ranges::stable_sort(changes, {}, &RecordChange::group);
  return missing;
}

}  // namespace

int diff(const Arguments& arguments) {
  const auto& before_file = arguments.positional(0);
  const auto& after_file = arguments.positional(1);
  const auto before = record_of(before_file);
  const auto after = record_of(after_file);
  auto changes = diff_records(before, after);
  const auto missing = add_rows(before_file.value, before, after_file.value, after, changes);
  if (!missing.empty())
    print(stderr, fmt::format("compared by their summaries alone, for a record of theirs is not beside one: {}\n",
                              fmt::join(missing, ", ")));
  if (arguments.has("json"))
    print(stdout, record_diff_json(before_file.value, after_file.value, changes));
  else
    print(stdout, record_diff_text(changes, {use_colour(arguments, stdout), detail_of(arguments)}));
  return is_equal(changes) ? exit_code::passed : exit_code::failed;
}

}  // namespace lockstep::cli
