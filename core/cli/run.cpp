#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "cli/exit_guard.hpp"
#include "cli/pipeline_arguments.hpp"
#include "cli/terminal_io.hpp"
#include "cli/verbs.hpp"
#include "pipeline/render_diagnostic.hpp"
#include "report/junit.hpp"
#include "report/live.hpp"
#include "report/output.hpp"

namespace lockstep::cli {
namespace {

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "the signal handler uses it");

/// The first signal lets the run end with a record, the second ends at once.
extern "C" void on_interrupt(int) {
  if (interrupted.exchange(true)) _exit(exit_interrupted);
  constexpr std::string_view text = "\ninterrupted: the run ends with its record; once more ends it at once\n";
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;  // libraries do not expect their reads to be interrupted
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

/// The report files that were asked for.
struct Targets {
  std::optional<ReportTarget> json;
  std::optional<ReportTarget> junit;

  [[nodiscard]] bool use_standard_output() const {
    return (json && json->is_standard_output()) || (junit && junit->is_standard_output());
  }
};

Targets targets_of(const Arguments& arguments) {
  Targets targets;
  if (const auto json = arguments.option("json")) targets.json.emplace(json->value);
  if (const auto junit = arguments.option("junit")) targets.junit.emplace(junit->value);
  return targets;
}

/// Writes the reports; what could not be written becomes part of `record` before the run record is written, last.
void write_reports(const Targets& targets, RunRecord& record) {
  if (targets.junit) {
    if (auto failure = targets.junit->write("JUnit report", to_junit(record)))
      add_report_failure(record, std::move(*failure));
  }
  if (!targets.json) return;
  if (auto failure = IncrementalRecord(*targets.json).finish(record)) add_report_failure(record, std::move(*failure));
}

int end_invalid(const Targets& targets, const PlanResult& result, bool colour) {
  auto record = invalid_record(result, result.exit_code());
  write_reports(targets, record);
  print(record.diagnostics, colour);
  print(stderr, fmt::format("{}; nothing ran\n", count_text(record.diagnostics)));
  return record.exit_code;
}

bool same_place(const std::string& a, const std::string& b) {
  if (a == "-" || b == "-") return a == b;
  std::error_code failed;
  const auto place = [&failed](const std::string& path) { return std::filesystem::weakly_canonical(path, failed); };
  const auto place_of_a = place(a);
  if (failed) return a == b;  // a circle of links
  const auto place_of_b = place(b);
  return !failed && place_of_a == place_of_b;
}

/// Reports that would overwrite one another, the pipeline or an overlay are an error, and are not written.
void check_reports(const Arguments& arguments, PlanResult& result, Targets& targets) {
  const auto json = arguments.option("json");
  const auto junit = arguments.option("junit");
  const auto refuse = [&result](const auto& option, const std::string& message) {
    result.diagnostics.push_back({.code = "C011",
                                  .message = message,
                                  .location = option.location,
                                  .help = "give each report a file of its own"});
  };
  if (json && junit && same_place(json->value, junit->value)) {
    refuse(*junit, fmt::format("'--json' and '--junit' both write to {}",
                               json->value == "-" ? "standard output" : in_quotes(json->value)));
    targets.junit.reset();
  }
  const auto request = request_of(arguments);
  auto inputs = request.configs;
  inputs.push_back(request.file);
  for (const auto& input : inputs) {
    if (json && same_place(json->value, input.string())) {
      refuse(*json, fmt::format("'--json' would overwrite {}", in_quotes(input.string())));
      targets.json.reset();
    }
    if (junit && same_place(junit->value, input.string())) {
      refuse(*junit, fmt::format("'--junit' would overwrite {}", in_quotes(input.string())));
      targets.junit.reset();
    }
  }
}

Detail detail_of(const Arguments& arguments) {
  if (arguments.has("quiet")) return Detail::quiet;
  return arguments.has("verbose") ? Detail::verbose : Detail::normal;
}

/// Where the line of the running step goes: standard error, or where the report goes; null if neither is a terminal.
std::FILE* live_stream(std::FILE* report, Detail detail) {
  if (detail == Detail::quiet) return nullptr;
  for (auto* stream : {stderr, report}) {
    if (is_terminal(stream)) return stream;
  }
  return nullptr;
}

}  // namespace

int run(const Arguments& arguments) {
  ExitGuard exit_guard;
  auto targets = targets_of(arguments);
  auto loader = loader_of(arguments);
  auto result = make_plan(request_of(arguments), loader);
  auto options = selection_of(arguments, result);
  check_reports(arguments, result, targets);
  const bool colour_of_errors = use_colour(arguments, stderr);
  if (!result.ok()) return end_invalid(targets, result, colour_of_errors);
  print(result.diagnostics, colour_of_errors);

  options.fail_fast = arguments.has("fail-fast");
  if (const auto dump = arguments.option("dump")) options.dump = dump->value;
  options.interrupted = &interrupted;
  catch_interrupts();

  auto* report = targets.use_standard_output() ? stderr : stdout;
  const TerminalStyle style{use_colour(arguments, report), detail_of(arguments)};
  LiveReport live(report, live_stream(report, style.detail), style);
  std::optional<IncrementalRecord> incremental;
  std::vector<RunObserver*> observers{&exit_guard, &live};
  if (targets.json) observers.push_back(&incremental.emplace(*targets.json));

  auto record = execute(result.plan, options, observers);
  const auto findings = result.diagnostics.size();
  record.diagnostics.insert(record.diagnostics.begin(), result.diagnostics.begin(), result.diagnostics.end());
  print(report, terminal_footer(record, style));
  const bool written = report == stdout ? flush_standard_output() : std::ferror(report) == 0;
  if (!written) {
    add_report_failure(record, {.code = "R001",
                                .message = fmt::format("the report cannot be written to standard {}",
                                                       report == stdout ? "output" : "error")});
  }
  write_reports(targets, record);
  print({record.diagnostics.begin() + static_cast<std::ptrdiff_t>(findings), record.diagnostics.end()},
        colour_of_errors);
  return record.exit_code;
}

void record_invalid_command_line(const CommandLine& line, const std::vector<Diagnostic>& diagnostics) {
  constexpr std::array takes_value{"--config", "--set",   "--only", "--from",  "--to",         "--skip",
                                   "--json",   "--junit", "--dump", "--color", "--plugin-path"};
  // The line could not be parsed: a report is written only where its name is beyond doubt, never over another argument.
  const auto value_after = [&](std::string_view option) -> std::optional<ReportTarget> {
    const auto target = [&line](const std::string& value) -> std::optional<ReportTarget> {
      const bool is_name = value == "-" || (!value.empty() && !value.starts_with('-'));
      if (!is_name || std::ranges::count(line.words, value) > 1) return std::nullopt;
      return ReportTarget(value);
    };
    for (std::size_t i = 0; i < line.words.size() && line.words[i] != "--"; ++i) {
      const auto& word = line.words[i];
      if (word == option && i + 1 < line.words.size()) return target(line.words[i + 1]);
      if (word.starts_with(std::string(option) + "=")) return target(word.substr(option.size() + 1));
      if (std::ranges::count(takes_value, word) > 0) ++i;
    }
    return std::nullopt;
  };
  PlanResult result;
  result.diagnostics = diagnostics;
  auto record = invalid_record(result, exit_invalid);
  write_reports({value_after("--json"), value_after("--junit")}, record);
}

}  // namespace lockstep::cli
