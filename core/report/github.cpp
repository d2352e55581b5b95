#include "report/github.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <optional>
#include <vector>

#include "report/problems.hpp"
#include "report/run_text.hpp"
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

/// Of "file:line:column", or of a file alone.
std::optional<Place> place_in(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto column = text.rfind(':');
  const auto line = column == std::string::npos || column == 0 ? std::string::npos : text.rfind(':', column - 1);
  if (line == std::string::npos) return Place{text, {}, {}};
  return Place{text.substr(0, line), text.substr(line + 1, column - line - 1), text.substr(column + 1)};
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

/// Of one row, if its summary tells it.
Annotation annotation_of(const RowFailure& failure, const std::string& row = {}) {
  auto title = title_of(failure);
  if (!row.empty()) title = fmt::format("row {}: {}", printable(row), title);
  return {place_in(failure.location), std::move(title), failure.message};
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
  if (const auto message = message_text(record); message && record.verdict != RunVerdict::pass)
    errors.push_back({place_in(record.pipeline_file + ":1:1"), "lockstep", printable(*message)});
  for (const auto& row : record.rows.value_or(std::vector<RowSummary>{})) {
    if (row.verdict == RunVerdict::pass) continue;
    const bool not_started = row.verdict == RunVerdict::incomplete;  // another row's error tells why
    for (const auto& failure : row.failures) errors.push_back(annotation_of(failure, row.row.name));
    if (!row.failures.empty()) continue;
    (not_started ? warnings : errors)
        .push_back({place_in(record.pipeline_file + ":1:1"), "row " + printable(row.row.name),
                    printable(row.message.value_or(std::string(name_of(row.verdict))))});
  }
  for (const auto& problem : problems_of(record))
    (problem.kind == Problem::Kind::warning ? warnings : errors).push_back(annotation_of(in_words(problem)));
  return commands_of("error", errors, place) + commands_of("warning", warnings, place);
}

}  // namespace lockstep
