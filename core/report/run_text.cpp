#include "report/run_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>

#include "report/text.hpp"

namespace lockstep {
namespace {

std::string checks_text(std::size_t count) { return fmt::format("{} check{}", count, count == 1 ? "" : "s"); }

std::string joined(const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, " · ")); }

const Value* find(const std::vector<std::pair<std::string, Value>>& fields, std::string_view key) {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [key](const auto& field) { return field.first == key; });
  return found == fields.end() ? nullptr : &found->second;
}

std::string plain(const Value& value) {
  const auto* text = std::get_if<std::string>(&value.data);
  return printable(text ? *text : to_text(value));
}

}  // namespace

std::string environment_text(const RunRecord& record) {
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

std::optional<std::string> message_text(const RunRecord& record) {
  if (record.message || record.verdict != RunVerdict::incomplete) return record.message;
  const auto step = std::ranges::find_if(record.steps, [](const StepRecord& s) { return !s.status; });
  if (step == record.steps.end()) return "the process ended before the run did";
  return fmt::format("the process ended before the run did, in step '{}' or after it", step->id);
}

std::string counts_text(const RunRecord& record) {
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
  parts.push_back(fmt::format("{:.2f} s", record.seconds));
  if (record.peak_rss_bytes > 0) parts.push_back(memory_text(record.peak_rss_bytes, record.peak_private_bytes));
  return joined(parts);
}

std::string rows_count_text(const RunRecord& summary) {
  const auto& rows = summary.rows.value();
  const auto good = std::ranges::count(rows, RunVerdict::pass, &RowSummary::verdict);
  const auto unchecked = std::ranges::count_if(
      rows, [](const RowSummary& row) { return row.verdict == RunVerdict::pass && row.checks.empty(); });
  const auto aside = unchecked == 0 ? std::string() : fmt::format(" · without a check: {}", unchecked);
  return fmt::format("rows passed: {} of {}{} · {:.2f} s", good - unchecked, rows.size(), aside, summary.seconds);
}

std::vector<std::string> baseline_lines(const BaselineRecord& baseline) {
  const auto worse =
      baseline.worse.empty() ? std::string("none worse") : fmt::format("{} worse", baseline.worse.size());
  std::vector<std::string> lines{fmt::format("baseline {}: {} compared, {}", baseline.file,
                                             checks_text(static_cast<std::size_t>(baseline.compared)), worse)};
  const bool updated = baseline.update.has_value();
  const auto* hint = updated ? "" : "; --update-baseline takes it in";
  if (!baseline.better.empty())
    lines.push_back(fmt::format("{} better than the baseline{}", checks_text(baseline.better.size()), hint));
  if (!baseline.unknown.empty())
    lines.push_back(fmt::format("{} not in the baseline{}", checks_text(baseline.unknown.size()), hint));
  for (const auto& note : baseline.notes) lines.push_back(note);
  if (updated) lines.push_back(*baseline.update);
  return lines;
}

std::string title_of(const BaselineRecord::Finding& finding) {
  return finding.subject ? finding.check + " " + *finding.subject : finding.check;
}

std::string quoted_for_shell(const std::string& word) {
  constexpr std::string_view harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(harmless) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string command_text(const RunRecord& record) {
  auto text = "lockstep run " + quoted_for_shell(record.pipeline_file);
  auto options = record.overrides;
  options.insert(options.end(), record.selection.begin(), record.selection.end());
  for (const auto& option : options) {
    const auto space = option.find(' ');
    text += " " + quoted_for_shell(option.substr(0, space));
    if (space != std::string::npos) text += " " + quoted_for_shell(option.substr(space + 1));
  }
  if (record.baseline) text += " --baseline " + quoted_for_shell(record.baseline->file);
  return text;
}

}  // namespace lockstep
