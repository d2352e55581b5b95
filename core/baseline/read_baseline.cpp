#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>

#include "baseline/baseline.hpp"
#include "baseline/judge.hpp"
#include "pipeline/findings.hpp"
#include "pipeline/render_diagnostic.hpp"
#include "pipeline/source_file.hpp"
#include "pipeline/toml_document.hpp"

namespace lockstep {
namespace {

constexpr std::int64_t schema = 1;

[[noreturn]] void fail(const Location& location, std::string message, std::string help = {}) {
  throw Error(Diagnostic{.code = "F004", .message = std::move(message), .location = location, .help = std::move(help)});
}

const Node& member(const Node& table, const char* key, const char* kind) {
  const auto* found = table.find(key);
  if (found == nullptr) fail(table.location, fmt::format("'{}' is missing, expected {}", key, kind));
  return found->value;
}

std::string text_of(const Node& node, const char* key) {
  if (node.text() == nullptr) fail(node.location, fmt::format("'{}' is {}, expected a text", key, kind_text(node)));
  return *node.text();
}

double number_of(const Node& node, const char* key) {
  if (const auto* real = std::get_if<double>(&node.data)) return *real;
  if (const auto* integer = std::get_if<std::int64_t>(&node.data)) return static_cast<double>(*integer);
  fail(node.location, fmt::format("'{}' is {}, expected a number", key, kind_text(node)));
}

double margin_of(const Node& node, const char* key) {
  const auto number = number_of(node, key);
  if (number >= 0 && std::isfinite(number)) return number;
  fail(node.location, fmt::format("'{}' is {}, expected a finite number that is not negative", key, number));
}

const Node::List& list_of(const Node& node, const char* key) {
  if (node.list() == nullptr) fail(node.location, fmt::format("'{}' is {}, expected a list", key, kind_text(node)));
  return *node.list();
}

const Node::Table& table_of(const Node& node, const char* key) {
  if (node.table() == nullptr) fail(node.location, fmt::format("'{}' is {}, expected a table", key, kind_text(node)));
  return *node.table();
}

void know_only(const Node& table, std::initializer_list<std::string_view> known) {
  for (const auto& [key, entry] : *table.table()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::vector<std::string> names(known.begin(), known.end());
    throw Error(Diagnostic{.code = "F004",
                           .message = fmt::format("unknown key {}", in_quotes(key)),
                           .location = entry.key,
                           .did_you_mean = did_you_mean(key, names)});
  }
}

/// A text that is one of `names`.
template <class Names>
const std::string& one_of(const std::string& text, const Location& location, const char* what, const Names& names) {
  if (std::ranges::find(names, text) != std::end(names)) return text;
  const std::vector<std::string> candidates(std::begin(names), std::end(names));
  throw Error(Diagnostic{.code = "F004",
                         .message = fmt::format("{} is no {}", in_quotes(text), what),
                         .location = location,
                         .did_you_mean = did_you_mean(text, candidates),
                         .help = fmt::format("known: {}", fmt::join(candidates, ", "))});
}

template <class Enum>
std::vector<std::string> names_up_to(Enum last) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(last); ++i) names.emplace_back(name_of(static_cast<Enum>(i)));
  return names;
}

template <class Enum>
Enum member_named(const Node& node, const char* key, Enum last) {
  const auto text = text_of(node, key);
  for (int i = 0; i <= static_cast<int>(last); ++i)
    if (name_of(static_cast<Enum>(i)) == text) return static_cast<Enum>(i);
  fail(node.location, fmt::format("{} is no {}", in_quotes(text), key));
}

BaselineEntry read_entry(const Node& node) {
  table_of(node, "checks");
  know_only(node, {"step", "check", "subject", "metric", "level", "verdict", "value", "ladder", "relative"});
  BaselineEntry entry;
  entry.step = text_of(member(node, "step", "a text"), "step");
  entry.check = text_of(member(node, "check", "a text"), "check");
  entry.metric = member_named(member(node, "metric", "a metric"), "metric", Metric::expect);
  if (const auto* subject = node.find("subject")) entry.subject = text_of(subject->value, "subject");
  if (const auto* level = node.find("level")) entry.level = member_named(level->value, "level", Level::off);
  if (const auto* verdict = node.find("verdict"))
    entry.verdict = member_named(verdict->value, "verdict", Verdict::vacuous);
  if (const auto* value = node.find("value")) entry.value = number_of(value->value, "value");
  if (const auto* ladder = node.find("ladder"))
    entry.ladder = one_of(text_of(ladder->value, "ladder"), ladder->value.location, "ladder level", ladder_levels);
  if (const auto* relative = node.find("relative")) entry.relative = margin_of(relative->value, "relative");
  return entry;
}

Value scalar_of(const Node& node, const std::string& key) {
  if (const auto* text = node.text()) return *text;
  if (const auto* integer = std::get_if<std::int64_t>(&node.data)) return *integer;
  if (const auto* real = std::get_if<double>(&node.data)) return *real;
  if (const auto* flag = std::get_if<bool>(&node.data)) return *flag;
  fail(node.location, fmt::format("'{}' is {}, expected a text or a number", key, kind_text(node)));
}

BaselineSection read_section(const Node& node) {
  table_of(node, "baseline");
  know_only(node, {"environment", "checks"});
  BaselineSection section;
  std::vector<std::string_view> known(baseline_set_up.begin(), baseline_set_up.end());
  known.insert(known.end(), baseline_machine.begin(), baseline_machine.end());
  for (const auto& [key, entry] : table_of(member(node, "environment", "a table"), "environment"))
    section.environment.emplace_back(one_of(key, entry.key, "field that a section is chosen by", known),
                                     scalar_of(entry.value, key));
  const auto& checks = member(node, "checks", "a list");
  for (const auto& entry : list_of(checks, "checks")) section.checks.push_back(read_entry(entry));
  if (section.checks.empty())
    fail(checks.location, "'checks' is empty, so nothing would be compared", "take the section out, or make it anew");
  return section;
}

BaselineReason read_reason(const Node& node) {
  table_of(node, "history");
  know_only(node, {"date", "reason", "changes"});
  BaselineReason reason{
      text_of(member(node, "date", "a text"), "date"), text_of(member(node, "reason", "a text"), "reason"), {}};
  for (const auto& change : list_of(member(node, "changes", "a list"), "changes"))
    reason.changes.push_back(text_of(change, "changes"));
  return reason;
}

BaselineMargin read_margin(const Node& node) {
  table_of(node, "margin");
  know_only(node, {"relative", "absolute"});
  BaselineMargin margin;
  if (const auto* relative = node.find("relative")) margin.relative = margin_of(relative->value, "relative");
  const auto* absolute = node.find("absolute");
  if (absolute == nullptr) return margin;
  margin.absolute.clear();
  for (const auto& [metric, entry] : table_of(absolute->value, "absolute"))
    margin.absolute[one_of(metric, entry.key, "metric", names_up_to(Metric::expect))] =
        margin_of(entry.value, metric.c_str());
  return margin;
}

Baseline read_document(const Node& document) {
  know_only(document, {"schema", "pipeline", "margin", "baseline", "history"});
  const auto& number = member(document, "schema", "1");
  if (number_of(number, "schema") != schema)
    fail(number.location, fmt::format("schema is {}, expected {}", number_of(number, "schema"), schema),
         "another version of lockstep wrote it");
  Baseline baseline;
  baseline.pipeline = text_of(member(document, "pipeline", "a text"), "pipeline");
  if (const auto* margin = document.find("margin")) baseline.margin = read_margin(margin->value);
  if (const auto* sections = document.find("baseline"))
    for (const auto& node : list_of(sections->value, "baseline")) {
      auto section = read_section(node);
      if (std::ranges::find(baseline.sections, section.environment, &BaselineSection::environment) !=
          baseline.sections.end())
        fail(node.location, "there is a section of this environment already", "leave one of them");
      baseline.sections.push_back(std::move(section));
    }
  if (const auto* history = document.find("history"))
    for (const auto& reason : list_of(history->value, "history")) baseline.history.push_back(read_reason(reason));
  return baseline;
}

Baseline read_source_text(const SourceFile& source, Findings& findings) {
  const auto document = source.usable ? parse_document(source, findings) : std::nullopt;
  if (!document) {
    auto diagnostic = findings.take_sorted().at(0);
    diagnostic.code = "F004";
    throw Error(std::move(diagnostic));
  }
  return read_document(*document);
}

}  // namespace

Baseline read_baseline(const std::string& toml, const std::string& name) {
  Findings findings;
  const SourceFile source{std::make_shared<const SourceText>(SourceText{name, toml}), nullptr, true};
  findings.add_source(source.source);
  return read_source_text(source, findings);
}

std::optional<Baseline> read_baseline_file(const std::filesystem::path& file) {
  std::error_code failed;
  if (!std::filesystem::exists(file, failed) && !failed) return std::nullopt;
  Findings findings;
  const auto source = read_source(file, findings);
  return read_source_text(source, findings);
}

}  // namespace lockstep
