#include "report/html.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>
#include <vector>

#include "report/check_text.hpp"
#include "report/html_page.hpp"
#include "report/json.hpp"
#include "report/json_value.hpp"
#include "report/record_diff_text.hpp"
#include "report/run_text.hpp"
#include "report/xml.hpp"

namespace lockstep {
namespace {

/// `json` without the spaces between its parts, and such that no HTML parser finds markup in it: in JSON `<` stands in
/// texts only, where its number means the same. U+2028 and U+2029 end a line in older scripts.
std::string embedded(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  bool in_text = false;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (!in_text && (c == ' ' || c == '\n')) continue;
    if (c == '"') in_text = !in_text;
    if (c == '<') {
      result += "\\u003c";
    } else if (json.substr(at, 3) == "\xE2\x80\xA8" || json.substr(at, 3) == "\xE2\x80\xA9") {
      result += json[at + 2] == '\xA8' ? "\\u2028" : "\\u2029";
      at += 2;
    } else {
      result += c;
      if (in_text && c == '\\') result += json[++at];
    }
  }
  return result;
}

/// What the page shows of each check beside its fields, so that it says it in the words of the other reports.
std::string texts_of_checks(const RunRecord& record) {
  auto steps = Json::array();
  for (const auto& step : record.steps) {
    auto checks = Json::array();
    for (const auto& check : step.checks) {
      const auto limit = limit_of(check);
      checks.push_back({{"outcome", outcome_of(check)},
                        {"limit", limit ? number(limit->bound) : Json(nullptr)},
                        {"at_least", limit && limit->at_least}});
    }
    steps.push_back(std::move(checks));
  }
  return document(steps);
}

std::string difference_of(const RunRecord& record, const PreviousRun* previous) {
  if (previous == nullptr) return "null";
  return embedded(record_diff_json(previous->name, "this run", diff_records(previous->record, record)));
}

std::string data_of(const RunRecord& record, const PreviousRun* previous) {
  const Json texts = {{"command", command_text(record)},
                      {"baseline", record.baseline ? baseline_lines(*record.baseline) : std::vector<std::string>()}};
  return fmt::format(R"({{"record":{},"checks":{},"texts":{},"difference":{}}})", embedded(to_json(record)),
                     embedded(texts_of_checks(record)), embedded(document(texts)), difference_of(record, previous));
}

std::string title_of(const RunRecord& record) {
  const auto& name = record.pipeline_name.empty() ? record.pipeline_file : record.pipeline_name;
  return xml_text(fmt::format("{}: {} · Lockstep", name_of(record.verdict), name.empty() ? "a run" : name));
}

/// `lines`: what stands below, as it was written.
std::string list_item(std::string_view what, const std::string& where, const std::string& text,
                      const std::vector<std::string>& lines = {}) {
  const auto block =
      lines.empty() ? "" : fmt::format("\n<pre>{}</pre>", xml_text(fmt::format("{}", fmt::join(lines, "\n"))));
  return fmt::format("<li><b>{}</b> {}: {}{}</li>\n", what, xml_text(where), xml_text(text), block);
}

/// For readers without JavaScript: the verdict and all that is not fine.
std::string without_script(const RunRecord& record) {
  auto text = fmt::format("<section>\n<h1>{}: {}</h1>\n", xml_text(record.pipeline_name), name_of(record.verdict));
  if (record.message) text += fmt::format("<p>{}</p>\n", xml_text(*record.message));
  text += "<p>The whole report needs JavaScript. What did not pass:</p>\n<ul>\n";
  for (const auto& diagnostic : record.diagnostics)
    text +=
        list_item(diagnostic.severity == Severity::error ? "error" : "warning", diagnostic.code, diagnostic.message);
  for (const auto& row : record.rows.value_or(std::vector<RowSummary>{})) {
    if (row.verdict != RunVerdict::pass)
      text += list_item(name_of(row.verdict), "row " + row.row.name, row.message.value_or(""));
  }
  for (const auto& step : record.steps) {
    const bool broken = step.status == StepStatus::error || step.status == StepStatus::crashed;
    if (broken || step.status == StepStatus::skipped)
      text += list_item(name_of(*step.status), step.id, step.reason.value_or(""), step.output_tail);
    if (broken) continue;
    for (const auto& check : step.checks) {
      if (!check.verdict || is_fine(check)) continue;
      text += list_item(name_of(*check.verdict), step.id + " " + title_of(check), outcome_of(check));
    }
  }
  return text + "</ul>\n</section>";
}

std::string content_of(std::string_view place, const RunRecord& record, const PreviousRun* previous) {
  if (place == "title") return title_of(record);
  if (place == "style") return std::string(html_page::style);
  if (place == "script") return std::string(html_page::script);
  if (place == "noscript") return without_script(record);
  return data_of(record, previous);
}

std::string page_of(const RunRecord& record, const PreviousRun* previous) {
  // One pass over the page: what is filled in is not looked at again, whatever it holds.
  std::string result;
  auto rest = html_page::page;
  while (true) {
    const auto open = rest.find("{{");
    const auto close = rest.find("}}", open);
    if (close == std::string_view::npos) return result.append(rest);
    result.append(rest.substr(0, open)).append(content_of(rest.substr(open + 2, close - open - 2), record, previous));
    rest.remove_prefix(close + 2);
  }
}

}  // namespace

std::string to_html(const RunRecord& record) { return page_of(record, nullptr); }

std::string to_html(const RunRecord& record, const PreviousRun& previous) { return page_of(record, &previous); }

}  // namespace lockstep
