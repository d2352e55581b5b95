#include "cli/reports.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "cli/verbs.hpp"
#include "pipeline/render_diagnostic.hpp"
#include "report/github.hpp"
#include "report/json.hpp"
#include "report/junit.hpp"
#include "report/markdown.hpp"

namespace lockstep::cli {
namespace {

constexpr std::string_view record_option = "json";

bool same_place(const std::string& a, const std::string& b) {
  if (a == "-" || b == "-") return a == b;
  std::error_code failed;
  const auto place = [&failed](const std::string& path) { return std::filesystem::weakly_canonical(path, failed); };
  const auto place_of_a = place(a);
  if (failed) return a == b;  // a circle of links
  const auto place_of_b = place(b);
  return !failed && place_of_a == place_of_b;
}

/// Paths as GitHub wants them: relative to the folder of the repository, where the job has one.
std::string github_here(const RunRecord& record) {
  std::error_code failed;
  const auto* root = std::getenv("GITHUB_WORKSPACE");
  return to_github(record, {root == nullptr ? "" : root, std::filesystem::current_path(failed)});
}

}  // namespace

const std::vector<ReportFormat>& report_formats() {
  static const std::vector<ReportFormat> formats{
      {record_option, "run record", "write the run record", to_json},
      {"junit", "JUnit report", "write a JUnit report", to_junit},
      {"html", "HTML report", "write a page for the browser", [](const RunRecord& record) { return to_html(record); },
       [](const RunRecord& record, const PreviousRun& previous) { return to_html(record, previous); }},
      {"markdown", "Markdown report", "write a report for a comment on GitHub", to_markdown},
      {"github", "GitHub annotations", "write annotations for GitHub Actions, which reads them from '-'", github_here},
  };
  return formats;
}

std::vector<OptionSpec> report_options(std::string_view help_of_record) {
  std::vector<OptionSpec> options;
  options.reserve(report_formats().size());
  for (const auto& format : report_formats())
    options.push_back({format.option, "FILE", false, format.option == record_option ? help_of_record : format.help});
  return options;
}

Reports::Reports(const Arguments& arguments) {
  for (const auto& format : report_formats()) {
    if (const auto given = arguments.option(format.option))
      targets_.emplace(format.option, Target{*given, ReportTarget(given->value)});
  }
}

Reports::Reports(const CommandLine& line) {
  const auto& words = line.words;
  const auto verb = std::ranges::find(verbs(), words.front(), &Verb::name);
  if (verb == verbs().end()) return;
  const auto is_name = [&words](const std::string& value) {
    const bool looks_like_one = value == "-" || (!value.empty() && !value.starts_with('-'));
    return looks_like_one && std::ranges::count(words, value) <= 1;
  };
  for (std::size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
    if (!words[i].starts_with("--")) continue;
    const auto equals = words[i].find('=');
    const auto name = words[i].substr(2, equals == std::string::npos ? equals : equals - 2);
    const auto option = std::ranges::find(verb->options, name, &OptionSpec::name);
    if (option == verb->options.end() || option->value.empty()) continue;
    const bool in_next_word = equals == std::string::npos;
    if (in_next_word && ++i == words.size()) return;
    const auto value = in_next_word ? words[i] : words[i].substr(equals + 1);
    const auto format = std::ranges::find(report_formats(), name, &ReportFormat::option);
    if (format == report_formats().end() || !is_name(value)) continue;
    targets_.emplace(format->option, Target{{value, line.place(i)}, ReportTarget(value)});
  }
}

std::vector<Diagnostic> Reports::drop_clashes(const std::vector<std::filesystem::path>& inputs) {
  std::vector<Diagnostic> diagnostics;
  std::vector<std::string_view> kept;
  for (const auto& format : report_formats()) {
    const auto found = targets_.find(format.option);
    if (found == targets_.end()) continue;
    const auto& given = found->second.given;
    std::string problem;
    for (const auto& other : kept) {
      if (!same_place(targets_.at(other).given.value, given.value)) continue;
      problem = fmt::format("'--{}' and '--{}' both write to {}", other, format.option,
                            given.value == "-" ? "standard output" : in_quotes(given.value));
      break;
    }
    for (const auto& input : inputs) {
      if (problem.empty() && same_place(given.value, input.string()))
        problem = fmt::format("'--{}' would overwrite {}", format.option, in_quotes(input.string()));
    }
    if (problem.empty()) {
      kept.push_back(format.option);
      continue;
    }
    diagnostics.push_back({.code = "C011",
                           .message = std::move(problem),
                           .location = given.location,
                           .help = "give each report a file of its own"});
    targets_.erase(found);
  }
  return diagnostics;
}

std::vector<Diagnostic> Reports::drop_unwritable() {
  std::vector<Diagnostic> diagnostics;
  for (const auto& format : report_formats()) {
    const auto found = targets_.find(format.option);
    if (found == targets_.end()) continue;
    auto problem = found->second.target.problem(format.name);
    if (!problem) continue;
    problem->location = found->second.given.location;
    diagnostics.push_back(std::move(*problem));
    targets_.erase(found);
  }
  return diagnostics;
}

bool Reports::use_standard_output() const {
  return std::ranges::any_of(targets_, [](const auto& entry) { return entry.second.target.is_standard_output(); });
}

const ReportTarget* Reports::record() const {
  const auto found = targets_.find(record_option);
  return found == targets_.end() ? nullptr : &found->second.target;
}

bool Reports::set_previous(PreviousRun previous) {
  previous_ = std::move(previous);
  return std::ranges::any_of(report_formats(), [&](const ReportFormat& format) {
    return format.render_against != nullptr && targets_.contains(format.option);
  });
}

void Reports::write(RunRecord& record) const {
  const auto write_one = [&](const ReportFormat& format) {
    const auto found = targets_.find(format.option);
    if (found == targets_.end()) return;
    const auto text = previous_ && format.render_against != nullptr ? format.render_against(record, *previous_)
                                                                    : format.render(record);
    if (auto failure = found->second.target.write(format.name, text)) add_report_failure(record, std::move(*failure));
  };
  const auto& formats = report_formats();
  std::for_each(formats.begin() + 1, formats.end(), write_one);
  write_one(formats.front());
}

}  // namespace lockstep::cli
