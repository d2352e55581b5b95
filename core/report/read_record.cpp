#include "report/read_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>

#include "pipeline/render_diagnostic.hpp"
#include "report/json_place.hpp"

namespace lockstep {
namespace {

constexpr std::int64_t schema = 1;
constexpr std::int64_t highest_exit_code = 6;

constexpr std::array verdicts{RunVerdict::pass,        RunVerdict::fail,    RunVerdict::error,     RunVerdict::invalid,
                              RunVerdict::interrupted, RunVerdict::crashed, RunVerdict::incomplete};
constexpr std::array statuses{StepStatus::pass,    StepStatus::fail,  StepStatus::warn,   StepStatus::done,
                              StepStatus::skipped, StepStatus::error, StepStatus::crashed};
constexpr std::array check_verdicts{Verdict::pass, Verdict::fail, Verdict::warn, Verdict::vacuous};
constexpr std::array levels{Level::require, Level::inform, Level::off};
constexpr std::array vacuous_rules{OnVacuous::fail, OnVacuous::warn, OnVacuous::allow};

template <class Enum>
constexpr std::vector<Enum> up_to(Enum last) {
  std::vector<Enum> all;
  for (int i = 0; i <= static_cast<int>(last); ++i) all.push_back(static_cast<Enum>(i));
  return all;
}

/// The member of `all` that the text names.
template <class All>
auto one_of(const JsonPlace& place, const All& all) {
  const auto text = place.text();
  const auto found = std::ranges::find_if(all, [&text](auto member) { return name_of(member) == text; });
  if (found != std::end(all)) return *found;
  std::vector<std::string_view> names;
  names.reserve(std::size(all));
  for (const auto member : all) names.push_back(name_of(member));
  place.fail(fmt::format("one of {}", fmt::join(names, ", ")));
}

std::optional<std::string> optional_text(const JsonPlace& object, std::string_view key) {
  const auto field = object.find(key);
  return field ? std::optional(field->text()) : std::nullopt;
}

/// What an older record of this schema lacks: then none.
std::vector<std::string> optional_texts(const JsonPlace& object, std::string_view key) {
  std::vector<std::string> result;
  if (const auto list = object.find(key))
    list->each_element([&result](const JsonPlace& element) { result.push_back(element.text()); });
  return result;
}

std::vector<std::int64_t> integers(const JsonPlace& list) {
  std::vector<std::int64_t> result;
  list.each_element([&result](const JsonPlace& element) { result.push_back(element.integer()); });
  return result;
}

std::vector<std::pair<std::string, Value>> fields(const JsonPlace& object) {
  std::vector<std::pair<std::string, Value>> result;
  object.each_field(
      [&result](const std::string& key, const JsonPlace& field) { result.emplace_back(key, field.value()); });
  return result;
}

Location read_location(const JsonPlace& object) {
  Location location;
  const auto file = optional_text(object, "file");
  if (!file) return location;
  location.source = std::make_shared<const SourceText>(SourceText{*file, {}});
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  if (const auto line = object.find("line")) location.line = static_cast<std::size_t>(line->integer(1, most));
  if (const auto column = object.find("column")) location.column = static_cast<std::size_t>(column->integer(0, most));
  return location;
}

Diagnostic read_diagnostic(const JsonPlace& place) {
  constexpr std::array severities{Severity::error, Severity::warning};
  Diagnostic diagnostic;
  const auto severity = place.at("severity");
  if (const auto name = severity.text(); name != "error" && name != "warning")
    severity.fail("\"error\" or \"warning\"");
  diagnostic.severity = severities[severity.text() == "error" ? 0 : 1];
  diagnostic.code = optional_text(place, "code").value_or("");
  diagnostic.message = place.at("message").text();
  diagnostic.location = read_location(place);
  diagnostic.did_you_mean = optional_text(place, "did_you_mean").value_or("");
  diagnostic.help = optional_text(place, "help").value_or("");
  if (const auto notes = place.find("notes"))
    notes->each_element([&diagnostic](const JsonPlace& note) {
      diagnostic.notes.push_back({note.at("message").text(), read_location(note)});
    });
  return diagnostic;
}

OutputRecord::TensorInfo read_tensor(std::string name, const JsonPlace& place) {
  static const auto dtypes = up_to(DType::float64);
  return {std::move(name), one_of(place.at("dtype"), dtypes), integers(place.at("shape"))};
}

OutputRecord read_output(const std::string& name, const JsonPlace& place) {
  OutputRecord output{name, place.at("type").text(), {}};
  place.each_field([&](const std::string& key, const JsonPlace& field) {
    if (key == "dtype") output.tensors.push_back(read_tensor("", place));
    if (key != "tensors") return;
    field.each_field([&output](const std::string& tensor, const JsonPlace& info) {
      output.tensors.push_back(read_tensor(tensor, info));
    });
  });
  return output;
}

Bound read_bound(const JsonPlace& place) {
  Bound bound;
  for (const auto& [key, member] : bound_members)
    if (const auto field = place.find(key)) bound.*member = field->number();
  return bound;
}

/// An element of a tensor is a number; of a list it may be a text that looks like one.
Value read_element(const JsonPlace& place, Metric metric) {
  auto value = place.value();
  const auto* text = std::get_if<std::string>(&value.data);
  const bool is_number =
      text != nullptr && metric != Metric::equal && (*text == "nan" || *text == "inf" || *text == "-inf");
  return is_number ? Value(place.number()) : value;
}

CheckResult read_check(const JsonPlace& place) {
  static const auto metrics = up_to(Metric::expect);
  CheckResult check;
  check.name = place.at("name").text();
  check.subject = place.at("subject").text_or_null();
  check.metric = one_of(place.at("metric"), metrics);
  check.level = one_of(place.at("level"), levels);
  if (const auto verdict = place.at("verdict"); !verdict.is_null()) check.verdict = one_of(verdict, check_verdicts);
  if (const auto rule = place.find("on_vacuous")) check.on_vacuous = one_of(*rule, vacuous_rules);
  if (const auto value = place.at("value"); !value.is_null()) check.value = value.number();
  check.bound = read_bound(place.at("bound"));
  check.bound_source = place.at("bound_source").text();
  check.compared = place.at("compared").integer();
  check.mismatched = place.at("mismatched").integer();
  check.ladder = place.at("ladder").text_or_null();
  check.message = place.at("message").text_or_null();
  check.expected = place.at("expected").text();
  place.at("statistics").each_field([&check](const std::string& name, const JsonPlace& field) {
    check.statistics.emplace_back(name, field.number());
  });
  if (const auto worst = place.at("worst"); !worst.is_null())
    check.worst = CheckResult::Worst{integers(worst.at("index")), read_element(worst.at("expected"), check.metric),
                                     read_element(worst.at("actual"), check.metric)};
  return check;
}

StepRecord read_step(const JsonPlace& place) {
  StepRecord step;
  step.id = place.at("id").text();
  step.uses = place.at("uses").text();
  step.location = optional_text(place, "location").value_or("");
  if (const auto plugin = place.at("plugin"); !plugin.is_null()) {
    step.plugin_file = plugin.at("file").text();
    step.build_id = optional_text(plugin, "build_id").value_or("");
  }
  step.scored = place.at("scored").boolean();
  if (const auto status = place.at("status"); !status.is_null()) step.status = one_of(status, statuses);
  step.reason = place.at("reason").text_or_null();
  step.help = optional_text(place, "help");
  step.summary = optional_text(place, "summary");
  step.isolated = place.find("isolation").has_value();
  if (const auto tail = place.find("output_tail"))
    tail->each_element([&step](const JsonPlace& line) { step.output_tail.push_back(line.text()); });
  step.seconds = place.at("seconds").number();
  step.peak_rss_bytes = place.at("peak_rss_bytes").integer();
  if (const auto bytes = place.find("peak_private_bytes")) step.peak_private_bytes = bytes->integer();
  step.parameters = fields(place.at("parameters"));
  place.at("inputs").each_field(
      [&step](const std::string& port, const JsonPlace& source) { step.inputs.emplace_back(port, source.text()); });
  place.at("outputs").each_field(
      [&step](const std::string& port, const JsonPlace& output) { step.outputs.push_back(read_output(port, output)); });
  place.at("checks").each_element([&step](const JsonPlace& check) { step.checks.push_back(read_check(check)); });
  place.each_field([&step](const std::string& key, const JsonPlace& field) {
    if (!is_field_of_step(key)) step.extra.emplace_back(key, field.value());
  });
  return step;
}

std::vector<BaselineRecord::Finding> read_findings(const JsonPlace& place) {
  std::vector<BaselineRecord::Finding> findings;
  place.each_element([&findings](const JsonPlace& finding) {
    findings.push_back({finding.at("step").text(), finding.at("check").text(), finding.at("subject").text_or_null(),
                        finding.at("message").text()});
  });
  return findings;
}

BaselineRecord read_baseline(const JsonPlace& place) {
  BaselineRecord baseline;
  baseline.file = place.at("file").text();
  baseline.sha256 = place.at("sha256").text();
  baseline.compared = place.at("compared").integer();
  place.at("notes").each_element([&baseline](const JsonPlace& note) { baseline.notes.push_back(note.text()); });
  baseline.worse = read_findings(place.at("worse"));
  baseline.better = read_findings(place.at("better"));
  baseline.unknown = read_findings(place.at("unknown"));
  baseline.update = place.at("update").text_or_null();
  return baseline;
}

MatrixRow read_row(const JsonPlace& place) { return {place.at("name").text(), fields(place.at("values"))}; }

std::vector<std::pair<std::string, std::int64_t>> read_counts(const JsonPlace& place) {
  std::vector<std::pair<std::string, std::int64_t>> counts;
  place.each_field(
      [&counts](const std::string& name, const JsonPlace& count) { counts.emplace_back(name, count.integer()); });
  return counts;
}

RowSummary read_row_summary(const JsonPlace& place) {
  RowSummary row;
  row.row = read_row(place);
  row.verdict = one_of(place.at("verdict"), verdicts);
  row.exit_code = static_cast<int>(place.at("exit_code").integer(0, highest_exit_code));
  row.message = place.at("message").text_or_null();
  row.run_id = optional_text(place, "run_id").value_or("");
  row.seconds = place.at("seconds").number();
  row.peak_rss_bytes = place.at("peak_rss_bytes").integer();
  if (const auto bytes = place.find("peak_private_bytes")) row.peak_private_bytes = bytes->integer();
  row.record = place.at("record").text_or_null();
  row.steps = read_counts(place.at("steps"));
  row.checks = read_counts(place.at("checks"));
  if (const auto failures = place.find("failures"))
    failures->each_element([&row](const JsonPlace& failure) {
      row.failures.push_back({failure.at("word").text(), optional_text(failure, "step").value_or(""),
                              optional_text(failure, "check").value_or(""), failure.at("message").text(),
                              optional_text(failure, "location").value_or("")});
    });
  if (const auto more = place.find("more_failures")) row.more_failures = more->integer();
  return row;
}

RunRecord read_run(const JsonPlace& place) {
  RunRecord record;
  if (const auto number = place.at("schema"); number.integer() != schema)
    number.fail(std::to_string(schema), "another version of lockstep wrote it; read it with that one");
  record.tool_version = place.at("tool").at("version").text();
  const auto pipeline = place.at("pipeline");
  record.pipeline_name = pipeline.at("name").text();
  record.pipeline_file = pipeline.at("file").text();
  record.pipeline_sha256 = pipeline.at("sha256").text();
  pipeline.at("overrides").each_element([&record](const JsonPlace& text) { record.overrides.push_back(text.text()); });
  record.config_sha256 = optional_texts(pipeline, "config_sha256");
  record.selection = optional_texts(pipeline, "selection");
  record.run_id = optional_text(place, "run_id").value_or("");
  record.environment = fields(place.at("environment"));
  record.verdict = one_of(place.at("verdict"), verdicts);
  record.exit_code = static_cast<int>(place.at("exit_code").integer(0, highest_exit_code));
  record.message = optional_text(place, "message");
  record.seconds = place.at("seconds").number();
  record.peak_rss_bytes = place.at("peak_rss_bytes").integer();
  if (const auto bytes = place.find("peak_private_bytes")) record.peak_private_bytes = bytes->integer();
  if (const auto baseline = place.find("baseline")) record.baseline = read_baseline(*baseline);
  if (const auto matrix = place.find("matrix")) {
    matrix->at("rows").each_element([&record](const JsonPlace& name) { record.matrix.push_back(name.text()); });
    if (const auto name = matrix->find("name")) record.common_name = name->text();
  }
  if (const auto row = place.find("row")) record.row = read_row(*row);
  if (const auto rows = place.find("rows")) {
    record.rows.emplace();
    rows->each_element([&record](const JsonPlace& row) { record.rows->push_back(read_row_summary(row)); });
  }
  place.at("diagnostics").each_element([&record](const JsonPlace& diagnostic) {
    record.diagnostics.push_back(read_diagnostic(diagnostic));
  });
  place.at("steps").each_element([&record](const JsonPlace& step) { record.steps.push_back(read_step(step)); });
  return record;
}

}  // namespace

RunRecord read_record(std::string_view json, const std::string& name) {
  const auto document = parse_json(json, name);
  return read_run(JsonPlace(document, name));
}

StepRecord read_step(std::string_view json, const std::string& name) {
  const auto document = parse_json(json, name);
  return read_step(JsonPlace(document, name));
}

RunRecord read_record_file(const std::filesystem::path& file) {
  const bool standard_input = file == "-";
  const auto name = standard_input ? std::string("standard input") : file.string();
  errno = 0;
  const std::unique_ptr<std::FILE, void (*)(std::FILE*)> stream(standard_input ? stdin : std::fopen(file.c_str(), "rb"),
                                                                [](std::FILE* open) {
                                                                  if (open != nullptr && open != stdin)
                                                                    std::fclose(open);
                                                                });
  std::string text;
  std::array<char, 65536> part;
  for (std::size_t size = 1; stream && size > 0; text.append(part.data(), size))
    size = std::fread(part.data(), 1, part.size(), stream.get());
  if (!stream || std::ferror(stream.get()) != 0)
    throw Error(Diagnostic{.code = "F003",
                           .message = fmt::format("{} cannot be read: {}", in_quotes(name), std::strerror(errno)),
                           .help = "name a run record, as 'lockstep run PIPELINE --json FILE' writes it"});
  return read_record(text, name);
}

}  // namespace lockstep
