#include "report/terminal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>

#include "report/palette.hpp"
#include "report/step_text.hpp"
#include "report/text.hpp"

namespace lockstep {
namespace {

constexpr std::string_view separator = " · ";

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

std::string joined(const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, separator)); }

const Value* find(const std::vector<std::pair<std::string, Value>>& fields, std::string_view key) {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [key](const auto& field) { return field.first == key; });
  return found == fields.end() ? nullptr : &found->second;
}

std::string plain(const Value& value) {
  const auto* text = std::get_if<std::string>(&value.data);
  return printable(text ? *text : to_text(value));
}

std::string environment_line(const RunRecord& record) {
  std::vector<std::string> parts;
  for (const auto* key : {"checkpoint", "dtype"})  // what steps that load a model call it
    if (const auto* value = find(record.environment, key)) parts.push_back(plain(*value));
  if (const auto* threads = find(record.environment, "threads")) {
    const auto one = *threads == Value(1);
    parts.push_back(fmt::format("{} thread{}", plain(*threads), one ? "" : "s"));
  }
  if (const auto* libtorch = find(record.environment, "libtorch")) {
    auto text = "LibTorch " + plain(*libtorch);
    if (const auto* capability = find(record.environment, "cpu_capability")) text += " " + plain(*capability);
    parts.push_back(std::move(text));
  }
  return joined(parts);
}

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

/// How many steps ended how; a step that is not scored counts as that, unless it ended in an error.
std::vector<std::string> counts(const RunRecord& record) {
  constexpr std::array<std::pair<StepStatus, std::string_view>, 7> names{{{StepStatus::crashed, "crashed"},
                                                                          {StepStatus::error, "errors"},
                                                                          {StepStatus::fail, "failed"},
                                                                          {StepStatus::warn, "warned"},
                                                                          {StepStatus::pass, "passed"},
                                                                          {StepStatus::done, "done"},
                                                                          {StepStatus::skipped, "skipped"}}};
  const auto counts_as = [](const StepRecord& step, StepStatus status) {
    const bool always = status == StepStatus::crashed || status == StepStatus::error || status == StepStatus::skipped;
    return step.status == status && (step.scored || always);
  };
  std::vector<std::string> parts;
  std::ptrdiff_t rest = static_cast<std::ptrdiff_t>(record.steps.size());
  for (const auto& [status, name] : names) {
    const auto n = std::count_if(record.steps.begin(), record.steps.end(),
                                 [&, wanted = status](const StepRecord& step) { return counts_as(step, wanted); });
    if (n > 0) parts.push_back(fmt::format("{}: {}", name, n));
    rest -= n;
  }
  const auto unfinished =
      std::count_if(record.steps.begin(), record.steps.end(), [](const StepRecord& s) { return !s.status; });
  if (rest - unfinished > 0) parts.push_back(fmt::format("not scored: {}", rest - unfinished));
  if (unfinished > 0) parts.push_back(fmt::format("not finished: {}", unfinished));
  return parts;
}

}  // namespace

std::string terminal_header(const RunRecord& record, const TerminalStyle& style) {
  if (style.detail == Detail::quiet) return {};
  std::vector<std::string> title;
  for (const auto* part : {&record.pipeline_name, &record.pipeline_file})
    if (!part->empty()) title.push_back(printable(*part));
  auto text = painted(joined(title), palette::strong, style.colour) + "\n";
  for (const auto& override_text : record.overrides) text += printable(override_text) + "\n";
  if (const auto environment = environment_line(record); !environment.empty()) text += environment + "\n";
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
  if (record.message) text += painted(printable(*record.message), palette::bad, style.colour) + "\n";
  auto parts = counts(record);
  parts.push_back(fmt::format("{:.2f} s", record.seconds));
  if (record.peak_rss_bytes > 0) parts.push_back(memory_text(record.peak_rss_bytes));
  const auto colour = record.verdict == RunVerdict::pass         ? palette::good
                      : record.verdict == RunVerdict::incomplete ? palette::warning
                                                                 : palette::bad;
  return text + painted(joined(parts), colour, style.colour) + "\n";
}

std::string terminal_report(const RunRecord& record, const TerminalStyle& style) {
  auto text = terminal_header(record, style);
  for (std::size_t i = 0; i < record.steps.size(); ++i) text += terminal_step(record, i, style);
  return text + terminal_footer(record, style);
}

}  // namespace lockstep
