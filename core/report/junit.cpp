#include "report/junit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <optional>

#include "pipeline/render_diagnostic.hpp"
#include "report/check_text.hpp"
#include "report/problems.hpp"
#include "report/run_text.hpp"
#include "report/step_text.hpp"
#include "report/xml.hpp"

namespace lockstep {
namespace {

enum class Kind { passed, failure, error, skipped };

struct Case {
  std::string name;
  Kind kind = Kind::passed;
  std::string message;  ///< of what did not pass
  std::string type;     ///< metric, status or code
  std::string text;     ///< all that is known
  std::optional<double> seconds = std::nullopt;
};

struct Suite {
  std::string name;
  double seconds = 0;
  std::vector<std::pair<std::string, std::string>> properties;
  std::vector<Case> cases;
};

std::string seconds_text(double seconds) { return fmt::format("{:.3f}", seconds); }

/// The value as it is read best: text without quotes.
std::string plain(const Value& value) {
  const auto* text = std::get_if<std::string>(&value.data);
  return text ? *text : to_text(value);
}

std::string details_of(const CheckResult& check) {
  auto text = fmt::format("{}", fmt::join(check_lines(check, true), "\n"));
  if (!check.expected.empty()) text += "\nexpected: " + check.expected;
  return text;
}

/// What a check that is not fine does to the run.
Kind kind_of(const CheckResult& check) {
  if (check.verdict == Verdict::fail) return Kind::failure;
  const bool counts = check.level == Level::require && check.on_vacuous == OnVacuous::fail;
  return check.verdict == Verdict::vacuous && counts ? Kind::failure : Kind::passed;
}

Case case_of(const CheckResult& check, bool scored) {
  Case result{.name = title_of(check), .type = std::string(name_of(check.metric)), .text = {}};
  if (!check.verdict) {
    result.kind = Kind::skipped;
    result.message = "no verdict: the step did not end well";
    return result;
  }
  result.kind = kind_of(check);
  result.text = details_of(check);
  if (result.kind == Kind::failure) result.message = outcome_of(check);
  if (result.kind == Kind::failure && !scored) {
    result.kind = Kind::skipped;
    result.message = "not scored: " + result.message;
  }
  return result;
}

/// The case of the step itself.
Case case_of(const StepRecord& step) {
  Case result{.name = step.id, .message = step.reason.value_or(""), .text = step.summary.value_or("")};
  if (!step.status) {
    result.kind = Kind::skipped;
    result.message = "the run ended before this step";
    return result;
  }
  result.type = name_of(*step.status);
  if (step.status == StepStatus::skipped) result.kind = Kind::skipped;
  if (step.status == StepStatus::error || step.status == StepStatus::crashed) {
    result.kind = Kind::error;
    result.text = step.reason.value_or("");
    if (step.help) result.text += "\nhelp: " + *step.help;
    for (const auto& line : step.output_tail) result.text += "\n| " + line;
  }
  return result;
}

Suite suite_of(const StepRecord& step) {
  Suite suite{.name = step.id, .seconds = step.seconds};
  const auto property = [&suite](std::string name, std::string value) {
    if (!value.empty()) suite.properties.emplace_back(std::move(name), std::move(value));
  };
  property("uses", step.uses);
  property("plugin", step.plugin_file);
  property("build_id", step.build_id);
  property("scored", step.scored ? "true" : "false");
  property("status", step.status ? std::string(name_of(*step.status)) : "");
  property("summary", step.summary.value_or(""));
  property("peak_rss_bytes", std::to_string(step.peak_rss_bytes));
  property("peak_private_bytes", std::to_string(step.peak_private_bytes));
  for (const auto& [name, value] : step.parameters) property("parameter." + name, plain(value));
  for (const auto& [port, source] : step.inputs) property("input." + port, source);

  const bool ended_well = step.status && *step.status != StepStatus::skipped && *step.status != StepStatus::error &&
                          *step.status != StepStatus::crashed;
  if (!ended_well || step.checks.empty()) suite.cases.push_back(case_of(step));
  for (const auto& check : step.checks) suite.cases.push_back(case_of(check, step.scored));
  if (suite.cases.size() == 1) suite.cases.front().seconds = step.seconds;
  return suite;
}

/// The run against its baseline: a failure for each check that is worse.
Suite suite_of(const BaselineRecord& baseline) {
  Suite suite{.name = "baseline", .seconds = 0, .properties = {{"file", baseline.file}, {"sha256", baseline.sha256}}};
  for (const auto& finding : baseline.worse)
    suite.cases.push_back({.name = finding.step + " " + title_of(finding),
                           .kind = Kind::failure,
                           .message = finding.message,
                           .type = "worse",
                           .text = finding.message});
  const auto lines = baseline_lines(baseline);
  suite.cases.push_back(
      {.name = "compared", .message = {}, .type = {}, .text = fmt::format("{}", fmt::join(lines, "\n"))});
  return suite;
}

/// A case for each row of a matrix.
Suite suite_of(const std::vector<RowSummary>& rows) {
  Suite suite{.name = "rows", .seconds = 0};
  for (const auto& row : rows) {
    Case result{.name = row.row.name};
    result.seconds = row.seconds;
    if (row.failures.empty()) result.text = row.message.value_or("");
    if (row.verdict == RunVerdict::fail) result.kind = Kind::failure;
    if (row.verdict != RunVerdict::fail && row.verdict != RunVerdict::pass) result.kind = Kind::error;
    if (result.kind != Kind::passed) {
      result.type = name_of(row.verdict);
      result.message = row.message.value_or(std::string(name_of(row.verdict)));
    }
    if (row.verdict == RunVerdict::incomplete) result.kind = Kind::skipped;  // another row's failure tells why
    for (const auto& failure : row.failures)
      result.text +=
          fmt::format("{}{} {}\n{}", result.text.empty() ? "" : "\n", failure.word, title_of(failure), failure.message);
    if (row.more_failures > 0) result.text += fmt::format("\nand {} more", row.more_failures);
    suite.seconds += row.seconds;
    suite.cases.push_back(std::move(result));
  }
  return suite;
}

/// What belongs to no step; the environment is its properties.
Suite suite_of_run(const RunRecord& record) {
  Suite suite{.name = "run", .seconds = 0};
  for (const auto& [key, value] : record.environment) suite.properties.emplace_back("environment." + key, plain(value));
  for (const auto& text : record.overrides) suite.properties.emplace_back("override", text);
  for (const auto& text : record.selection) suite.properties.emplace_back("selection", text);
  if (!record.pipeline_sha256.empty()) suite.properties.emplace_back("pipeline.sha256", record.pipeline_sha256);

  Case verdict{.name = "verdict", .type = std::string(name_of(record.verdict)), .text = record.message.value_or("")};
  if (record.verdict != RunVerdict::pass && (record.message || record.rows)) {
    verdict.kind = record.rows && record.verdict != RunVerdict::fail ? Kind::error : Kind::failure;
    verdict.message = record.message ? *record.message : rows_count_text(record);
  }
  if (record.verdict == RunVerdict::interrupted || record.verdict == RunVerdict::incomplete) {
    verdict.kind = Kind::error;
    verdict.message = name_of(record.verdict);
    if (const auto message = message_text(record)) verdict.message += ": " + *message;
  }
  suite.cases.push_back(std::move(verdict));
  for (const auto& diagnostic : record.diagnostics) {
    if (diagnostic.severity != Severity::error || is_told_by_step(diagnostic)) continue;
    suite.cases.push_back({.name = diagnostic.code.empty() ? "diagnostic" : diagnostic.code,
                           .kind = Kind::error,
                           .message = diagnostic.message,
                           .type = diagnostic.code,
                           .text = render(diagnostic, false)});
  }
  return suite;
}

std::size_t count(const Suite& suite, Kind kind) {
  return static_cast<std::size_t>(
      std::count_if(suite.cases.begin(), suite.cases.end(), [kind](const Case& c) { return c.kind == kind; }));
}

std::string element(const Case& c, const std::string& classname) {
  XmlAttributes attributes{{"name", c.name}, {"classname", classname}};
  if (c.seconds) attributes.emplace_back("time", seconds_text(*c.seconds));
  const auto open = fmt::format("    <testcase{}", xml_attributes(attributes));
  std::string_view tag;
  switch (c.kind) {
    case Kind::passed:
      if (c.text.empty()) return open + "/>\n";
      return fmt::format("{}>\n      <system-out>{}</system-out>\n    </testcase>\n", open, xml_text(c.text));
    case Kind::skipped:
      tag = "skipped";
      break;
    case Kind::failure:
      tag = "failure";
      break;
    case Kind::error:
      tag = "error";
      break;
  }
  XmlAttributes reason{{"message", c.message}};
  if (c.kind != Kind::skipped) reason.emplace_back("type", c.type);  // Ant's <skipped> has no type
  return fmt::format("{}>\n      <{}{}>{}</{}>\n    </testcase>\n", open, tag, xml_attributes(reason), xml_text(c.text),
                     tag);
}

std::string element(const Suite& suite, const std::string& package) {
  auto text =
      fmt::format("  <testsuite{}>\n", xml_attributes({{"name", suite.name},
                                                       {"tests", std::to_string(suite.cases.size())},
                                                       {"failures", std::to_string(count(suite, Kind::failure))},
                                                       {"errors", std::to_string(count(suite, Kind::error))},
                                                       {"skipped", std::to_string(count(suite, Kind::skipped))},
                                                       {"time", seconds_text(suite.seconds)}}));
  text += "    <properties>\n";
  for (const auto& [name, value] : suite.properties)
    text += fmt::format("      <property{}/>\n", xml_attributes({{"name", name}, {"value", value}}));
  text += "    </properties>\n";
  for (const auto& c : suite.cases) text += element(c, package + "." + suite.name);
  return text + "  </testsuite>\n";
}

}  // namespace

std::string to_junit(const RunRecord& record) {
  std::vector<Suite> suites;
  for (const auto& step : record.steps) suites.push_back(suite_of(step));
  if (record.rows) suites.push_back(suite_of(*record.rows));
  if (record.baseline) suites.push_back(suite_of(*record.baseline));
  suites.push_back(suite_of_run(record));
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t errors = 0;
  for (const auto& suite : suites) {
    tests += suite.cases.size();
    failures += count(suite, Kind::failure);
    errors += count(suite, Kind::error);
  }
  const auto name = record.pipeline_name.empty() ? std::string("lockstep") : record.pipeline_name;
  auto text = fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites{}>\n",
                          xml_attributes({{"name", name},
                                          {"tests", std::to_string(tests)},
                                          {"failures", std::to_string(failures)},
                                          {"errors", std::to_string(errors)},
                                          {"time", seconds_text(record.seconds)}}));
  for (const auto& suite : suites) text += element(suite, name);
  return text + "</testsuites>\n";
}

}  // namespace lockstep
