#include <filesystem>

#include "cli/records.hpp"
#include "cli/reports.hpp"
#include "cli/terminal_io.hpp"
#include "cli/verbs.hpp"
#include "report/summary.hpp"
#include "report/terminal.hpp"

namespace lockstep::cli {
namespace {

std::string relative_to_folder_of(const std::string& file, const std::string& path) {
  namespace fs = std::filesystem;
  return fs::absolute(path).lexically_normal().lexically_relative(fs::absolute(file).lexically_normal().parent_path());
}

}  // namespace

int merge(const Arguments& arguments) {
  std::vector<RunRecord> records;
  std::vector<std::string> files;
  for (const auto& file : arguments.positionals()) {
    records.push_back(record_of(file));
    files.push_back(file.value);
  }
  Reports reports(arguments);
  if (auto clashes = reports.drop_clashes({files.begin(), files.end()}); !clashes.empty())
    throw CommandLineError{std::move(clashes)};
  RunRecord summary;
  try {
    summary = merge_rows(records, files);
  } catch (const Error& error) {
    throw CommandLineError{{error.diagnostic()}};
  }
  if (const auto json = arguments.option("json"); json && json->value != "-") {
    for (auto& row : summary.rows.value())
      if (row.record) row.record = relative_to_folder_of(json->value, *row.record);
  }
  auto* stream = reports.use_standard_output() ? stderr : stdout;
  print(stream, terminal_report(summary, {.colour = use_colour(arguments, stream)}));
  reports.write(summary);
  print(summary.diagnostics, use_colour(arguments, stderr));
  return summary.exit_code;
}

}  // namespace lockstep::cli
