#include "cli/rows.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>

#include "cli/interrupt.hpp"
#include "cli/terminal_io.hpp"
#include "cli/verbs.hpp"
#include "pipeline/exit_code.hpp"
#include "pipeline/render_diagnostic.hpp"
#include "process/child_process.hpp"
#include "process/scratch_folder.hpp"
#include "report/read_record.hpp"
#include "report/summary.hpp"
#include "report/terminal.hpp"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

/// What ends the wait for a row after Ctrl-C.
struct Interrupted {};

bool is_report(std::string_view option) {
  return std::ranges::find(report_formats(), option, &ReportFormat::option) != report_formats().end();
}

/// Whether rows can have reports of their own beside this one: not beside a device, a pipe or standard output.
bool has_place_beside(const std::string& report) { return ReportTarget(report).is_replaceable(); }

/// How a row's process ended.
struct Ending {
  std::string text;
  int code;
};

/// Runs rows, several at once.
class RowRuns {
 public:
  RowRuns(const Arguments& arguments, const PlanResult& plan, std::FILE* report, std::size_t jobs)
      : arguments_(arguments), plan_(plan), report_(report), jobs_(jobs), interrupted_(catch_interrupts()) {
    summaries_.resize(plan.rows.size());
  }

  std::vector<RowSummary> run() {
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      for (auto i = next++; i < plan_.rows.size(); i = next++) {
        summaries_[i] = run_row(plan_.rows[i]);
        if (summaries_[i].exit_code != exit_code::passed) failed_ = true;
      }
    };
    std::vector<std::thread> workers;
    for (std::size_t i = 1; i < std::min(jobs_, plan_.rows.size()); ++i) workers.emplace_back(work);
    work();
    for (auto& worker : workers) worker.join();
    return std::move(summaries_);
  }

 private:
  RowSummary run_row(const MatrixRow& row) {
    const auto record = record_of_row(row);
    std::error_code ignored;
    fs::remove(record, ignored);  // an older one must not pass for this run's
    if (interrupted_)
      return {.row = row,
              .verdict = RunVerdict::interrupted,
              .exit_code = exit_code::interrupted,
              .message = "not started"};
    if (failed_ && arguments_.has("fail-fast"))
      return {.row = row,
              .verdict = RunVerdict::incomplete,
              .exit_code = exit_code::failed,
              .message = "not started: another row did not pass (--fail-fast)"};
    ChildRequest request{.argv = words_of(row, record)};
    request.grace = 10;  // the row's process ends its step and writes its record
    std::string output = arguments_.has("quiet") ? fmt::format("row {}\n", row.name) : "";  // else the report says it
    const bool live = jobs_ == 1;
    if (live) show(output);
    request.on_output = [&](std::string_view text) {
      if (live)
        show(text);
      else
        output += text;
    };
    request.while_waiting = [this] {
      if (interrupted_) throw Interrupted{};
    };
    Ending ending{.text = "was interrupted", .code = exit_code::interrupted};
    try {
      const auto result = run_child(request);
      ending = {ending_text(request, result), result.exit_code < 0 ? exit_code::crashed : result.exit_code};
    } catch (const Interrupted&) {
    } catch (const std::exception& error) {
      ending = {error.what(), exit_code::error};
    }
    if (!live) show(output);
    return told_by(record, row, ending);
  }

  /// What the row's record says; what is known without it, if the process ended before it had written a final one, or
  /// crashed after that.
  RowSummary told_by(const fs::path& file, const MatrixRow& row, const Ending& ending) const {
    RowSummary summary;
    const auto end_by_process = [&](std::string_view more) {
      summary.exit_code = ending.code == exit_code::passed ? exit_code::crashed : ending.code;
      summary.verdict = ending.code == exit_code::interrupted ? RunVerdict::interrupted : RunVerdict::crashed;
      summary.message = fmt::format("the row's process {}{}", ending.text, more);
    };
    try {
      const auto record = read_record_file(file);
      summary = summary_of(record);
      const bool crashed_late = ending.code == exit_code::crashed && record.exit_code < exit_code::crashed;
      if (record.verdict == RunVerdict::incomplete || crashed_late) end_by_process("");
    } catch (const Error&) {
      end_by_process(" and left no record");
    }
    summary.row = row;
    if (keeps_records()) summary.record = file.filename().string();
    return summary;
  }

  [[nodiscard]] bool keeps_records() const {
    const auto json = arguments_.option("json");
    return json && has_place_beside(json->value);
  }
  [[nodiscard]] fs::path record_of_row(const MatrixRow& row) const {
    if (keeps_records()) return beside(arguments_.option("json")->value, row.name);
    return scratch_.path() / (row.name + ".json");
  }

  /// This command line for one row.
  std::vector<std::string> words_of(const MatrixRow& row, const fs::path& record) const {
    std::vector<std::string> words{"/proc/self/exe", "run", "--row=" + row.name, "--json=" + record.string()};
    const auto verb = std::ranges::find(verbs(), "run", &Verb::name);
    for (const auto& option : verb->options) {
      const auto name = option.name;
      const bool own = name == "row" || name == "shard" || name == "jobs" || name == "color" || name == "json";
      if (own || !arguments_.has(name)) continue;
      if (option.value.empty()) {
        words.push_back(fmt::format("--{}", name));
        continue;
      }
      for (const auto& value : arguments_.values(name)) {
        if (is_report(name) && !has_place_beside(value)) continue;
        const auto place = is_report(name)  ? beside(value, row.name)
                           : name == "dump" ? (fs::path(value) / row.name).string()
                                            : value;
        words.push_back(fmt::format("--{}={}", name, place));
      }
    }
    words.push_back(fmt::format("--color={}", use_colour(arguments_, report_) ? "always" : "never"));
    words.emplace_back("--");
    words.push_back(arguments_.positional(0).value);
    return words;
  }

  void show(std::string_view text) {
    const std::lock_guard lock(printing_);
    std::fwrite(text.data(), 1, text.size(), report_);
    std::fflush(report_);
  }

  const Arguments& arguments_;
  const PlanResult& plan_;
  std::FILE* report_;
  std::size_t jobs_;
  const std::atomic<bool>& interrupted_;
  ScratchFolder scratch_{"rows"};  // for records that nobody asked to keep
  std::atomic<bool> failed_ = false;
  std::vector<RowSummary> summaries_;
  std::mutex printing_;
};

std::size_t jobs_of(const Arguments& arguments) {
  const auto given = arguments.option("jobs");
  if (!given) return 1;
  std::size_t jobs = 0;
  const auto& text = given->value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), jobs);
  if (error == std::errc() && end == text.data() + text.size() && jobs >= 1 && jobs <= 1024) return jobs;
  throw CommandLineError{{{.code = "C005",
                           .message = fmt::format("'--jobs' is {}, expected 1 to 1024", in_quotes(text)),
                           .location = given->location,
                           .help = "rows that run at once share the machine's memory and threads"}}};
}

}  // namespace

std::string beside(const std::string& file, const std::string& row) {
  const fs::path path(file);
  return (path.parent_path() / (path.stem().string() + "." + row + path.extension().string())).string();
}

int run_rows(const Arguments& arguments, const PlanResult& plan, const Reports& reports) {
  const auto jobs = jobs_of(arguments);
  auto* stream = reports.use_standard_output() ? stderr : stdout;
  const auto start = std::chrono::steady_clock::now();
  RunRecord summary{.pipeline_name = plan.plan.common_name,
                    .pipeline_file = plan.plan.file,
                    .pipeline_sha256 = plan.plan.sha256,
                    .overrides = plan.plan.overrides};
  summary.diagnostics = plan.diagnostics;
  summary.matrix = plan.plan.all_rows;
  summary.rows.emplace();
  if (const auto* target = reports.record(); target != nullptr && target->is_replaceable()) {
    summary.exit_code = exit_code::crashed;  // what stays if this process is killed
    IncrementalRecord(*target).run_started(summary);
  }
  summary.rows = RowRuns(arguments, plan, stream, jobs).run();
  if (summary.rows->empty()) summary.message = "no rows in this shard";
  conclude_rows(summary);
  summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  const auto known = static_cast<std::ptrdiff_t>(summary.diagnostics.size());
  const TerminalStyle style{use_colour(arguments, stream), detail_of(arguments)};
  print(stream, (style.detail == Detail::quiet ? "" : "\n") + terminal_report(summary, style));
  if (auto failure = printing_failure(stream)) add_report_failure(summary, std::move(*failure));
  reports.write(summary);
  print({summary.diagnostics.begin() + known, summary.diagnostics.end()}, use_colour(arguments, stderr));
  return summary.exit_code;
}

}  // namespace lockstep::cli
