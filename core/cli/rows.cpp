#include "cli/rows.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "cli/held_output.hpp"
#include "cli/interrupt.hpp"
#include "cli/row_files.hpp"
#include "cli/run_id.hpp"
#include "cli/terminal_io.hpp"
#include "cli/verbs.hpp"
#include "pipeline/exit_code.hpp"
#include "pipeline/render_diagnostic.hpp"
#include "process/child_process.hpp"
#include "process/scratch_folder.hpp"
#include "report/read_record.hpp"
#include "report/row_outcome.hpp"
#include "report/summary.hpp"
#include "report/terminal.hpp"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

/// What ends the wait for a row after Ctrl-C.
struct Interrupted {};

/// Runs rows, several at once.
class RowRuns {
 public:
  /// `summary` is the record of the run before a row has run.
  RowRuns(const Arguments& arguments, const PlanResult& plan, const RunRecord& summary, std::FILE* report,
          std::size_t jobs)
      : arguments_(arguments),
        plan_(plan),
        summary_(summary),
        report_(report),
        jobs_(jobs),
        interrupted_(catch_interrupts()) {
    summaries_.resize(plan.rows.size());
  }

  std::vector<RowSummary> run() {
    for (const auto& row : plan_.rows) {  // those of an earlier run must not pass for this one's
      std::error_code ignored;            // one that stays is known by its run's id
      fs::remove(record_of_row(row), ignored);
    }
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
    if (interrupted_)
      return {.row = row,
              .verdict = RunVerdict::interrupted,
              .exit_code = exit_code::interrupted,
              .message = "not started",
              .run_id = summary_.run_id};
    if (failed_ && arguments_.has("fail-fast"))
      return {.row = row,
              .verdict = RunVerdict::incomplete,
              .exit_code = exit_code::failed,
              .message = "not started: another row did not pass (--fail-fast)",
              .run_id = summary_.run_id};
    ChildRequest request{.argv = words_of(row, record), .environment = {{run_id_variable, summary_.run_id}}};
    request.grace = 10;  // the row's process ends its step and writes its record
    HeldOutput held;
    const bool live = jobs_ == 1;
    request.on_output = [&](std::string_view text) {
      if (live)
        show(text);
      else
        held.add(text);
    };
    if (arguments_.has("quiet")) request.on_output(fmt::format("row {}\n", row.name));  // else the report says it
    request.while_waiting = [this] {
      if (interrupted_) throw Interrupted{};
    };
    RowEnding ending{.text = "was interrupted", .code = std::nullopt};
    try {
      const auto result = run_child(request);
      const bool by_itself = result.exit_code >= exit_code::passed && result.exit_code <= exit_code::interrupted;
      ending = {ending_text(request, result), by_itself ? result.exit_code : exit_code::crashed};
    } catch (const Interrupted&) {
    } catch (const std::exception& error) {
      ending = {fmt::format("could not be followed: {}", error.what()), exit_code::error};
    }
    if (!live) show(held);
    return told_by(record, row, ending);
  }

  RowSummary told_by(const fs::path& file, const MatrixRow& row, const RowEnding& ending) const {
    std::optional<RunRecord> record;
    try {
      record = read_record_file(file);
    } catch (const Error&) {  // there is none, or it is none
    }
    auto summary = row_outcome(summary_, row, ending, record);
    if (record && record->run_id == summary_.run_id && keeps_records()) summary.record = file.filename().string();
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

  void show(const HeldOutput& held) {
    const std::lock_guard lock(printing_);
    held.show(report_);
    std::fflush(report_);
  }

  const Arguments& arguments_;
  const PlanResult& plan_;
  const RunRecord& summary_;
  std::FILE* report_;
  std::size_t jobs_;
  const std::atomic<bool>& interrupted_;
  ScratchFolder scratch_{"rows"};  // for records that nobody asked to keep
  std::atomic<bool> failed_ = false;
  std::vector<RowSummary> summaries_;
  std::mutex printing_;
};

std::string new_run_id() {
  std::random_device random;
  std::string id;
  for (int i = 0; i < 4; ++i) id += fmt::format("{:08x}", random());
  return id;
}

}  // namespace

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

int run_rows(const Arguments& arguments, const PlanResult& plan, const Reports& reports,
             const BaselineArguments& baseline, std::size_t jobs) {
  auto* stream = reports.use_standard_output() ? stderr : stdout;
  const auto start = std::chrono::steady_clock::now();
  auto summary = record_of(plan.plan);
  summary.pipeline_name = plan.plan.common_name;
  summary.common_name.clear();
  summary.run_id = new_run_id();
  summary.diagnostics = plan.diagnostics;
  summary.rows.emplace();
  if (const auto* target = reports.record(); target != nullptr && target->is_replaceable()) {
    summary.exit_code = exit_code::crashed;  // what stays if this process is killed
    IncrementalRecord(*target).run_started(summary);
  }
  summary.rows = RowRuns(arguments, plan, summary, stream, jobs).run();
  if (summary.rows->empty()) summary.message = "no rows in this shard";
  conclude_rows(summary);
  if (summary.rows->size() == summary.matrix.size()) baseline.apply_to_matrix(summary);
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
