#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.hpp"
#include "engine/executor.hpp"
#include "report/html.hpp"
#include "report/output.hpp"

namespace lockstep::cli {

/// A form in which a run record can be written; its option takes a file or '-'.
struct ReportFormat {
  std::string_view option;  ///< without dashes
  std::string_view name;    ///< for messages, "JUnit report"
  std::string_view help;
  std::string (*render)(const RunRecord& record);  ///< the whole document
  /// The same with what moved since an earlier run; null for a form that does not show it.
  std::string (*render_against)(const RunRecord& record, const PreviousRun& previous) = nullptr;
};

/// Every form, the run record itself first.
[[nodiscard]] const std::vector<ReportFormat>& report_formats();
/// The options of the verbs that write them.
[[nodiscard]] std::vector<OptionSpec> report_options(std::string_view help_of_record);

/// The reports that a command line asks for.
class Reports {
 public:
  explicit Reports(const Arguments& arguments);
  /// Of a command line that could not be parsed: only what is named beyond doubt, and never over another argument.
  explicit Reports(const CommandLine& line);

  /// Two reports in one place, or one in the place of an input, are refused: a diagnostic (C011) each, and the report
  /// that would overwrite is not written.
  [[nodiscard]] std::vector<Diagnostic> drop_clashes(const std::vector<std::filesystem::path>& inputs);
  /// A file that cannot be written where it is asked for, as far as that shows before the run: a diagnostic (R001)
  /// each, and the report is not written.
  [[nodiscard]] std::vector<Diagnostic> drop_unwritable();
  [[nodiscard]] bool empty() const { return targets_.empty(); }
  [[nodiscard]] bool use_standard_output() const;
  /// Where the run record goes, which is written while the run goes on; null if it was not asked for.
  [[nodiscard]] const ReportTarget* record() const;
  /// Lets the reports that can show what moved since `previous`; false if none of them can.
  bool set_previous(PreviousRun previous);
  /// Writes them all. What could not be written becomes part of `record` before the run record is written, last.
  void write(RunRecord& record) const;

 private:
  struct Target {
    Arguments::Given given;
    ReportTarget target;
  };
  std::map<std::string_view, Target> targets_;  // by option
  std::optional<PreviousRun> previous_;
};

}  // namespace lockstep::cli
