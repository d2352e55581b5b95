#include "report/markdown.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <vector>

#include "report/check_text.hpp"
#include "report/markdown_text.hpp"
#include "report/problems.hpp"
#include "report/run_text.hpp"
#include "report/text.hpp"

namespace lockstep {
namespace {

constexpr std::size_t most_bytes = 65'000;
constexpr std::size_t most_bytes_of_passing = 30'000;
constexpr std::size_t most_bytes_of_extras = 10'000;  // each of steps, environment and command

/// A table that grows up to a limit; the rows beyond it are counted.
class Table {
 public:
  Table(const std::vector<std::string_view>& columns, std::size_t limit) : limit_(limit) {
    text_ = fmt::format("| {} |\n|", fmt::join(columns, " | "));
    for (std::size_t i = 0; i < columns.size(); ++i) text_ += "---|";
    text_ += "\n";
  }

  void add(const std::vector<std::string>& cells) {
    const auto row = fmt::format("| {} |\n", fmt::join(cells, " | "));
    if (left_out_ > 0 || text_.size() + row.size() > limit_)
      ++left_out_;
    else
      text_ += row;
  }
  [[nodiscard]] std::string text(std::string_view what) const {
    if (left_out_ == 0) return text_;
    return fmt::format("{}\n… and {} more {}, which the run record has.\n", text_, grouped(left_out_), what);
  }

 private:
  std::string text_;
  std::size_t limit_;
  std::int64_t left_out_ = 0;
};

std::string folded(std::string_view summary, std::string_view body) {
  return fmt::format("\n<details><summary>{}</summary>\n\n{}\n</details>\n", summary, body);
}

std::string subject_of(const CheckResult& check) { return check.subject ? markdown_text(*check.subject) : ""; }

std::string result_of(const CheckResult& check) {
  auto text = markdown_text(outcome_of(check));
  if (check.bound_source != "default" && !check.bound_source.empty())
    text += "<br>bound from " + markdown_code(check.bound_source);
  return text;
}

std::vector<std::string> row_of(const Problem& problem) {
  const auto step = problem.step != nullptr ? markdown_code(problem.step->id) : "";
  const auto word = "**" + problem.word + "**";
  if (problem.worse != nullptr) {
    const auto& finding = *problem.worse;
    return {word,
            markdown_code(finding.step),
            finding.check.empty() ? "" : markdown_code(finding.check),
            markdown_text(finding.subject.value_or("")),
            markdown_text(finding.message),
            ""};
  }
  if (problem.check != nullptr) {
    const auto& check = *problem.check;
    return {word,
            step,
            markdown_code(check.name),
            subject_of(check),
            result_of(check),
            markdown_text(worst_of(check).value_or(""))};
  }
  if (problem.diagnostic != nullptr) {
    const auto& diagnostic = *problem.diagnostic;
    auto text = markdown_text(diagnostic.message);
    if (const auto place = diagnostic.location.to_string(); !place.empty()) text += "<br>at " + markdown_code(place);
    if (!diagnostic.help.empty()) text += "<br>help: " + markdown_text(diagnostic.help);
    return {word, "", diagnostic.code.empty() ? "" : markdown_code(diagnostic.code), "", text, ""};
  }
  auto text = markdown_text(problem.step->reason.value_or(""));
  if (problem.step->help) text += "<br>help: " + markdown_text(*problem.step->help);
  constexpr std::size_t most_lines = 10;
  const auto& tail = problem.step->output_tail;
  for (auto i = tail.size() - std::min(tail.size(), most_lines); i < tail.size(); ++i)
    text += "<br>" + markdown_code(tail[i]);
  return {word, step, "", "", text, ""};
}

std::string heading_of(const RunRecord& record) {
  const bool passed = record.verdict == RunVerdict::pass;
  const auto name = record.pipeline_name.empty() ? record.pipeline_file : record.pipeline_name;
  return fmt::format("## {} {}: {}\n\n", passed ? "✅" : "❌", markdown_text(name.empty() ? "lockstep" : name),
                     name_of(record.verdict));
}

std::string introduction_of(const RunRecord& record) {
  std::string text;
  if (const auto message = message_text(record)) text += "**" + markdown_text(*message) + "**\n\n";
  if (!record.pipeline_file.empty()) text += markdown_code(record.pipeline_file) + "\n";
  const auto environment = environment_text(record);
  if (!environment.empty()) text += markdown_text(environment) + "\n";
  return text + markdown_text(record.rows ? rows_count_text(record) : counts_text(record)) + "\n";
}

std::string counts_of(const std::vector<std::pair<std::string, std::int64_t>>& counts) {
  std::vector<std::string> parts;
  parts.reserve(counts.size());
  for (const auto& [name, count] : counts) parts.push_back(fmt::format("{} {}", grouped(count), name));
  return markdown_text(fmt::format("{}", fmt::join(parts, ", ")));
}

/// The rows of a summary, those that are not fine first.
std::string rows_of(const RunRecord& record) {
  if (!record.rows || record.rows->empty()) return {};
  auto rows = *record.rows;
  std::stable_partition(rows.begin(), rows.end(),
                        [](const RowSummary& row) { return row.verdict != RunVerdict::pass; });
  Table table({"row", "verdict", "checks", "time", ""}, most_bytes_of_passing);
  for (const auto& row : rows) {
    const auto verdict = std::string(name_of(row.verdict));
    table.add({markdown_code(row.row.name), row.verdict == RunVerdict::pass ? verdict : "**" + verdict + "**",
               counts_of(row.checks), fmt::format("{:.2f} s", row.seconds), markdown_text(row.message.value_or(""))});
  }
  return "\n" + table.text("rows");
}

/// What failed in each row of a summary.
std::string row_failures_of(const RunRecord& record) {
  if (!record.rows) return {};
  Table table({"row", "", "step", "check", "result"}, most_bytes_of_passing);
  bool any = false;
  for (const auto& row : *record.rows) {
    for (const auto& failure : row.failures) {
      any = true;
      auto text = markdown_text(failure.message);
      if (!failure.location.empty()) text += "<br>at " + markdown_code(failure.location);
      table.add({markdown_code(row.row.name), "**" + failure.word + "**",
                 failure.step.empty() ? "" : markdown_code(failure.step),
                 failure.check.empty() ? "" : markdown_code(failure.check), text});
    }
    if (row.more_failures > 0)
      table.add({markdown_code(row.row.name), "", "", "", fmt::format("{} more", grouped(row.more_failures))});
  }
  return any ? "\n" + table.text("findings") : std::string();
}

std::string baseline_of(const RunRecord& record) {
  if (!record.baseline) return {};
  std::string text;
  for (const auto& line : baseline_lines(*record.baseline)) text += "\n" + markdown_text(line) + "\n";
  return text;
}

std::string passing_of(const RunRecord& record) {
  Table table({"step", "check", "subject", "result"}, most_bytes_of_passing);
  std::int64_t count = 0;
  for (const auto& step : record.steps) {
    for (const auto& check : step.checks) {
      if (!step.scored || !check.verdict || !is_fine(check)) continue;
      ++count;
      table.add(
          {markdown_code(step.id), markdown_code(check.name), subject_of(check), markdown_text(outcome_of(check))});
    }
  }
  if (count == 0) return {};
  return folded(fmt::format("{} passing check{}", grouped(count), count == 1 ? "" : "s"), table.text("checks"));
}

std::string steps_of(const RunRecord& record) {
  if (record.steps.empty()) return {};
  Table table({"step", "uses", "status", "time", "memory", ""}, most_bytes_of_extras);
  for (const auto& step : record.steps) {
    const auto status = step.status ? std::string(name_of(*step.status)) : "not finished";
    table.add(
        {markdown_code(step.id), markdown_code(step.uses), step.scored ? status : status + ", not scored",
         fmt::format("{:.2f} s", step.seconds), memory_text(step.peak_rss_bytes, step.peak_private_bytes),
         markdown_text(step.status == StepStatus::skipped ? step.reason.value_or("") : step.summary.value_or(""))});
  }
  return folded(fmt::format("{} step{}", record.steps.size(), record.steps.size() == 1 ? "" : "s"),
                table.text("steps"));
}

std::string environment_of(const RunRecord& record) {
  if (record.environment.empty()) return {};
  Table table({"environment", "value"}, most_bytes_of_extras);
  for (const auto& [key, value] : record.environment) {
    const auto* text = std::get_if<std::string>(&value.data);
    table.add({markdown_code(key), markdown_code(text != nullptr ? *text : to_text(value))});
  }
  return folded("environment", table.text("fields"));
}

std::string command_of(const RunRecord& record) {
  if (record.pipeline_file.empty()) return {};
  const auto block = markdown_block(command_text(record), "sh");
  return block.size() > most_bytes_of_extras ? std::string() : folded("run it again", block);
}

std::string problems_text(const RunRecord& record, std::size_t limit) {
  const auto problems = problems_of(record);
  if (problems.empty()) return {};
  Table table({"", "step", "check", "subject", "result", "worst element"}, limit);
  for (const auto& problem : problems) table.add(row_of(problem));
  return "\n" + table.text("findings");
}

}  // namespace

std::string to_markdown(const RunRecord& record) {
  constexpr std::size_t spare = 400;  // the sentences about what was left out
  auto head =
      heading_of(record) + introduction_of(record) + rows_of(record) + row_failures_of(record) + baseline_of(record);
  const auto tail = passing_of(record) + steps_of(record) + environment_of(record) + command_of(record);
  const auto used = head.size() + tail.size() + spare;
  return head + problems_text(record, most_bytes - std::min(used, most_bytes)) + tail;
}

}  // namespace lockstep
