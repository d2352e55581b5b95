#include "report/github.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "report/check_text.hpp"
#include "report/problems.hpp"
#include "report/run_text.hpp"
#include "report/step_text.hpp"
#include "report/text.hpp"

namespace lockstep {
namespace {

constexpr std::size_t most_shown = 10;

struct Place {
  std::string file;
  std::string line;
  std::string column;
};

struct Annotation {
  std::optional<Place> place;
  std::string title;
  std::string message;
};

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Of "file:line:column"; none for "default" and values from the command line.
std::optional<Place> place_in(std::string_view text) {
  const auto column = text.rfind(':');
  if (column == std::string_view::npos || column == 0) return std::nullopt;
  const auto line = text.rfind(':', column - 1);
  if (line == std::string_view::npos || line == 0 || text.starts_with("--")) return std::nullopt;
  Place place{std::string(text.substr(0, line)), std::string(text.substr(line + 1, column - line - 1)),
              std::string(text.substr(column + 1))};
  if (!is_number(place.line) || !is_number(place.column)) return std::nullopt;
  return place;
}

std::optional<Place> place_of(const Location& location) {
  if (!location.source || location.source->name.starts_with("--") || location.source->name == "command line")
    return std::nullopt;
  if (location.line == 0) return Place{location.source->name, {}, {}};
  return Place{location.source->name, std::to_string(location.line), std::to_string(location.column)};
}

/// As the repository calls it, if it lies there.
std::string in_repository(const std::string& file, const RepositoryPlace& place) {
  if (place.root.empty()) return file;
  const auto absolute = (place.working / file).lexically_normal();
  const auto relative = absolute.lexically_relative(place.root.lexically_normal());
  const bool below = !relative.empty() && *relative.begin() != ".." && relative != ".";
  return below ? relative.generic_string() : file;
}

std::string escaped(std::string_view text, bool property) {
  std::string result;
  for (const char c : text) {
    const bool special = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    if (special)
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      result += c;
  }
  return result;
}

Annotation annotation_of(const Problem& problem) {
  const auto step_place = problem.step != nullptr ? place_in(problem.step->location) : std::nullopt;
  if (problem.check != nullptr) {
    const auto& check = *problem.check;
    const auto lines = check_lines(check, false);
    auto place = place_in(check.bound_source);
    return {place ? place : step_place, fmt::format("{}: {}", printable(problem.step->id), title_of(check)),
            fmt::format("{}", fmt::join(lines, "\n"))};
  }
  if (problem.worse != nullptr) {
    const auto& finding = *problem.worse;
    return {step_place,
            fmt::format("{}: {} is worse than the baseline", printable(finding.step), printable(title_of(finding))),
            printable(finding.message)};
  }
  if (problem.diagnostic != nullptr) {
    const auto& diagnostic = *problem.diagnostic;
    auto text = printable(diagnostic.message);
    if (!diagnostic.did_you_mean.empty())
      text += fmt::format("\ndid you mean '{}'?", printable(diagnostic.did_you_mean));
    if (!diagnostic.help.empty()) text += "\nhelp: " + printable(diagnostic.help);
    return {place_of(diagnostic.location), diagnostic.code.empty() ? "lockstep" : diagnostic.code, text};
  }
  auto text = fmt::format("{}", fmt::join(lines_of(problem.step->reason.value_or("no reason is known")), "\n"));
  if (problem.step->help) text += "\nhelp: " + printable(*problem.step->help);
  for (const auto& line : problem.step->output_tail) text += "\n| " + printable(line);
  return {step_place, fmt::format("{}: {}", printable(problem.step->id), problem.word), text};
}

std::string command_of(std::string_view kind, const Annotation& annotation, const RepositoryPlace& repository) {
  std::vector<std::string> properties;
  const auto property = [&properties](std::string_view name, const std::string& value) {
    if (!value.empty()) properties.push_back(fmt::format("{}={}", name, escaped(value, true)));
  };
  if (annotation.place) {
    property("file", in_repository(annotation.place->file, repository));
    property("line", annotation.place->line);
    property("col", annotation.place->column);
  }
  property("title", annotation.title);
  return fmt::format("::{} {}::{}\n", kind, fmt::join(properties, ","), escaped(annotation.message, false));
}

std::string commands_of(std::string_view kind, const std::vector<Annotation>& annotations,
                        const RepositoryPlace& repository) {
  const bool too_many = annotations.size() > most_shown;
  const auto shown = too_many ? most_shown - 1 : annotations.size();
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += command_of(kind, annotations[i], repository);
  if (too_many) {
    const auto message =
        fmt::format("{} more {}s; the log and the run record have them all", annotations.size() - shown, kind);
    text += command_of(kind, {std::nullopt, "lockstep", message}, repository);
  }
  return text;
}

}  // namespace

std::string to_github(const RunRecord& record, const RepositoryPlace& place) {
  std::vector<Annotation> errors;
  std::vector<Annotation> warnings;
  if (record.message)
    errors.push_back({place_in(record.pipeline_file + ":1:1"), "lockstep", printable(*record.message)});
  for (const auto& row : record.rows.value_or(std::vector<RowSummary>{})) {
    if (row.verdict == RunVerdict::pass) continue;
    const bool not_started = row.verdict == RunVerdict::incomplete;  // another row's error tells why
    (not_started ? warnings : errors)
        .push_back({place_in(record.pipeline_file + ":1:1"), "row " + printable(row.row.name),
                    printable(row.message.value_or(std::string(name_of(row.verdict))))});
  }
  for (const auto& problem : problems_of(record))
    (problem.kind == Problem::Kind::warning ? warnings : errors).push_back(annotation_of(problem));
  return commands_of("error", errors, place) + commands_of("warning", warnings, place);
}

}  // namespace lockstep
