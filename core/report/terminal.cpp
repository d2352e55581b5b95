#include "report/terminal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>

#include "report/palette.hpp"
#include "report/run_text.hpp"
#include "report/step_text.hpp"
#include "report/text.hpp"

namespace lockstep {
namespace {

struct Word {
  std::string_view text;
  std::string_view colour;  ///< of an ANSI escape sequence
};

Word word_of(StepStatus status) {
  switch (status) {
    case StepStatus::pass:
      return {"pass", palette::good};
    case StepStatus::done:
      return {"done", palette::neutral};
    case StepStatus::warn:
      return {"warn", palette::warning};
    case StepStatus::fail:
      return {"FAIL", palette::bad};
    case StepStatus::skipped:
      return {"skip", palette::faint};
    case StepStatus::error:
      return {"ERROR", palette::bad};
    case StepStatus::crashed:
      return {"CRASH", palette::bad};
  }
  return {"ERROR", palette::bad};
}

std::string joined(const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, " · ")); }

std::size_t id_width(const RunRecord& record) {
  std::size_t width = 0;
  for (const auto& step : record.steps) width = std::max(width, display_width(printable(step.id)));
  return width;
}

bool is_failure(StepStatus status) {
  return status == StepStatus::fail || status == StepStatus::error || status == StepStatus::crashed;
}

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

/// What got worse, each with its step, and what there is to say about the whole baseline.
std::string baseline_text(const BaselineRecord& baseline, const TerminalStyle& style) {
  std::string text;
  for (const auto& finding : baseline.worse) {
    const auto title = fmt::format("{}  {}", printable(finding.step), printable(title_of(finding)));
    text += painted("worse", palette::bad, style.colour) + "  " + title + ": " + printable(finding.message) + "\n";
  }
  if (style.detail == Detail::verbose) {
    for (const auto& finding : baseline.better)
      text += fmt::format("better {}  {}: {}\n", printable(finding.step), printable(title_of(finding)),
                          printable(finding.message));
    for (const auto& finding : baseline.unknown)
      text += fmt::format("new    {}  {}\n", printable(finding.step), printable(title_of(finding)));
  }
  if (style.detail == Detail::quiet && baseline.worse.empty())
    return baseline.update ? text + printable(*baseline.update) + "\n" : text;
  for (const auto& line : baseline_lines(baseline)) text += printable(line) + "\n";
  return text;
}

std::string_view colour_of(RunVerdict verdict) {
  if (verdict == RunVerdict::pass) return palette::good;
  return verdict == RunVerdict::incomplete ? palette::warning : palette::bad;
}

/// A line for each row of a matrix.
std::string rows_report(const RunRecord& record, const TerminalStyle& style) {
  auto text = terminal_header(record, style);
  std::size_t word_width = 0;
  std::size_t name_width = 0;
  for (const auto& row : *record.rows) {
    word_width = std::max(word_width, name_of(row.verdict).size());
    name_width = std::max(name_width, display_width(printable(row.row.name)));
  }
  for (const auto& row : *record.rows) {
    if (style.detail == Detail::quiet && row.verdict == RunVerdict::pass) continue;
    const auto word = name_of(row.verdict);
    text += painted(std::string(word), colour_of(row.verdict), style.colour) +
            std::string(word_width - word.size(), ' ') +
            fmt::format("  {}  {:>8.2f} s", padded(printable(row.row.name), name_width), row.seconds);
    std::vector<std::string> counts;
    for (const auto& [name, count] : row.checks) counts.push_back(fmt::format("{} {}", count, printable(name)));
    if (!counts.empty()) text += fmt::format("  checks: {}", fmt::join(counts, ", "));
    if (row.message) text += "  " + printable(*row.message);
    text += "\n";
  }
  if (record.message) text += printable(*record.message) + "\n";
  if (style.detail != Detail::quiet) text += "\n";
  return text + painted(rows_count_text(record), colour_of(record.verdict), style.colour) + "\n";
}

}  // namespace

std::string terminal_header(const RunRecord& record, const TerminalStyle& style) {
  if (style.detail == Detail::quiet) return {};
  std::vector<std::string> title;
  for (const auto* part : {&record.pipeline_name, &record.pipeline_file})
    if (!part->empty()) title.push_back(printable(*part));
  auto text = painted(joined(title), palette::strong, style.colour) + "\n";
  if (record.row) text += "row " + printable(record.row->name) + "\n";
  for (const auto& option : record.overrides) text += printable(option) + "\n";
  for (const auto& option : record.selection) text += printable(option) + "\n";
  if (const auto environment = environment_text(record); !environment.empty()) text += environment + "\n";
  return text + "\n";
}

std::string terminal_step(const RunRecord& record, std::size_t index, const TerminalStyle& style) {
  constexpr std::size_t word_width = 5;
  constexpr std::size_t seconds_width = 8;
  const auto& step = record.steps.at(index);
  if (!step.status) return {};
  if (style.detail == Detail::quiet && !(is_failure(*step.status) && (step.scored || *step.status != StepStatus::fail)))
    return {};

  const auto word = word_of(*step.status);
  const auto seconds = *step.status == StepStatus::skipped ? std::string() : fmt::format("{:.2f} s", step.seconds);
  const auto width = id_width(record);
  auto text = painted(std::string(word.text), word.colour, style.colour) +
              std::string(word_width - word.text.size() + 2, ' ') + padded(printable(step.id), width) + "  " +
              fmt::format("{:>{}}", seconds, seconds_width);
  const std::string indent(word_width + 2 + width + 2 + seconds_width, ' ');
  const auto lines = step_lines(step, style.detail == Detail::verbose);
  if (!lines.empty()) text += "  " + lines.front();
  text = without_trailing_spaces(std::move(text)) + "\n";
  for (std::size_t i = 1; i < lines.size(); ++i) text += without_trailing_spaces(indent + "  " + lines[i]) + "\n";
  return text;
}

std::string terminal_footer(const RunRecord& record, const TerminalStyle& style) {
  std::string text = style.detail == Detail::quiet ? "" : "\n";
  if (record.verdict == RunVerdict::interrupted) text += painted("interrupted", palette::bad, style.colour) + "\n";
  if (const auto message = message_text(record))
    text += painted(printable(*message), palette::bad, style.colour) + "\n";
  if (record.baseline) text += baseline_text(*record.baseline, style);
  return text + painted(counts_text(record), colour_of(record.verdict), style.colour) + "\n";
}

std::string terminal_report(const RunRecord& record, const TerminalStyle& style) {
  if (record.rows) return rows_report(record, style);
  auto text = terminal_header(record, style);
  for (std::size_t i = 0; i < record.steps.size(); ++i) text += terminal_step(record, i, style);
  return text + terminal_footer(record, style);
}

}  // namespace lockstep
