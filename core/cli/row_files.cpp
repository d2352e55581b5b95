#include "cli/row_files.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <climits>

#include "cli/reports.hpp"
#include "pipeline/render_diagnostic.hpp"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t temporary_ending = 16;  // more than what a file that is being written has behind its name

fs::path place_of(const fs::path& file) {
  std::error_code failed;
  auto place = fs::weakly_canonical(file, failed);
  return failed ? file : place;
}

/// Why the row's file cannot be written; "" if it can.
std::string problem_of(const std::string& file, const std::vector<fs::path>& taken) {
  const auto name = fs::path(file).filename().string();
  if (name.size() + temporary_ending > NAME_MAX)
    return fmt::format("a file name of {} bytes, more than {}", name.size(), NAME_MAX - temporary_ending);
  const auto place = place_of(file);
  return std::ranges::find(taken, place) == taken.end() ? "" : fmt::format("over {}", in_quotes(file));
}

}  // namespace

std::string beside(const std::string& file, const std::string& row) {
  const fs::path path(file);
  return (path.parent_path() / (path.stem().string() + "." + row + path.extension().string())).string();
}

bool has_place_beside(const std::string& report) { return ReportTarget(report).is_replaceable(); }

bool is_report(std::string_view option) {
  return std::ranges::find(report_formats(), option, &ReportFormat::option) != report_formats().end();
}

std::vector<Diagnostic> check_row_files(const Arguments& arguments, const std::vector<MatrixRow>& rows,
                                        const std::vector<fs::path>& inputs) {
  std::vector<fs::path> taken;
  taken.reserve(inputs.size() + report_formats().size());
  for (const auto& input : inputs) taken.push_back(place_of(input));
  for (const auto& format : report_formats())
    if (const auto report = arguments.option(format.option)) taken.push_back(place_of(report->value));
  std::vector<Diagnostic> diagnostics;
  for (const auto& format : report_formats()) {
    const auto given = arguments.option(format.option);
    if (!given || !has_place_beside(given->value)) continue;
    for (const auto& row : rows) {
      const auto problem = problem_of(beside(given->value, row.name), taken);
      if (problem.empty()) continue;
      diagnostics.push_back(
          {.code = "C011",
           .message = fmt::format("'--{}' would write the report of row {} {}", format.option, in_quotes(row.name),
                                  problem.starts_with("over") ? problem : "to " + problem),
           .location = given->location,
           .help = "each row's report lies beside this one, with the row's name in its own: give "
                   "another folder or a shorter name"});
      break;
    }
  }
  return diagnostics;
}

}  // namespace lockstep::cli
