#include "cli/records.hpp"
#include "cli/reports.hpp"
#include "cli/terminal_io.hpp"
#include "cli/verbs.hpp"
#include "pipeline/exit_code.hpp"
#include "report/terminal.hpp"

namespace lockstep::cli {
int report(const Arguments& arguments) {
  auto record = record_of(arguments.positional(0));
  Reports reports(arguments);
  std::vector<std::filesystem::path> inputs{arguments.positional(0).value};
  if (const auto against = arguments.option("against")) {
    if (!reports.set_previous({against->value, record_of(*against)}))
      throw CommandLineError{{{.code = "C006",
                               .message = "'--against' needs '--html', the report that shows what moved",
                               .location = against->location,
                               .help = "lockstep diff compares two records in the terminal"}}};
    inputs.emplace_back(against->value);
  }
  if (reports.empty()) {
    print(stdout, terminal_report(record, {use_colour(arguments, stdout), detail_of(arguments)}));
    return exit_code::passed;
  }
  if (auto clashes = reports.drop_clashes(inputs); !clashes.empty()) throw CommandLineError{std::move(clashes)};
  const auto known = static_cast<std::ptrdiff_t>(record.diagnostics.size());
  reports.write(record);
  const std::vector<Diagnostic> failures(record.diagnostics.begin() + known, record.diagnostics.end());
  print(failures, use_colour(arguments, stderr));
  return failures.empty() ? exit_code::passed : exit_code::error;
}

}  // namespace lockstep::cli
