#include "pipeline/render_diagnostic.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "pipeline/display_text.hpp"

namespace lockstep {
namespace {

constexpr std::size_t line_columns = 110;   // of source text under a message
constexpr std::size_t columns_before = 50;  // kept before the place when a line is clipped
constexpr std::size_t message_columns = 2000;

struct Style {
  bool color;
  [[nodiscard]] std::string operator()(std::string_view code, std::string_view text) const {
    return color ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
  }
};

/// Line `number` (from 1) without its line break.
std::string_view line_of(std::string_view text, std::size_t number) {
  for (std::size_t i = 1; i < number; ++i) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

/// A source line made fit for a terminal, and where in it the place lies.
struct Excerpt {
  std::string text;
  std::size_t start = 0;   ///< columns before the place
  std::size_t length = 1;  ///< columns of the place
};

Excerpt excerpt(std::string_view line, std::size_t first, std::size_t length) {
  first = std::min(first, line.size());
  const auto last = std::min(first + length, line.size());
  std::size_t begin = 0;
  for (std::size_t i = first; i > 0 && first - i < columns_before; --i) begin = i - 1;
  if (first <= columns_before) begin = 0;
  while (begin > 0 && begin < line.size() && (static_cast<unsigned char>(line[begin]) & 0xc0) == 0x80) --begin;

  Excerpt result;
  result.length = 0;
  std::size_t columns = 0;
  if (begin > 0) {
    result.text = "…";
    columns = 1;
  }
  result.start = columns;
  for (std::size_t i = begin; i < line.size();) {
    const auto unit = display_unit(line, i);
    if (columns + unit.columns > line_columns) {
      result.text += "…";
      break;
    }
    if (i < first) result.start = columns + unit.columns;
    if (i >= first && i < last) result.length += unit.columns;
    result.text += unit.text;
    columns += unit.columns;
    i += unit.bytes;
  }
  result.length = std::max<std::size_t>(result.length, 1);
  return result;
}

/// Arguments of the command line have no line numbers.
bool is_argument(const SourceText& source) { return source.name.starts_with("--"); }

std::string place_text(const Location& location) {
  if (!location.source) return {};
  if (is_argument(*location.source)) return location.source->name;
  return location.to_string();
}

std::string source_lines(const Location& location, std::string_view suggestion, const Style& style) {
  if (!location.source || location.line == 0) return {};
  if (location.source->text.empty()) return {};  // read from a record, which keeps the place alone
  const auto line = line_of(location.source->text, location.line);
  const auto shown = excerpt(line, location.column > 0 ? location.column - 1 : 0, location.length);
  const auto number = is_argument(*location.source) ? std::string("  ") : fmt::format("{:>2}", location.line);
  const std::string margin(number.size(), ' ');
  auto result = fmt::format(" {} | {}\n", number, shown.text);
  auto marks = std::string(shown.start, ' ') + style("1;32", std::string(shown.length, '^'));
  if (!suggestion.empty()) marks += " " + style("32", suggestion);
  return result + fmt::format(" {} | {}\n", margin, marks);
}

}  // namespace

std::string render(const Diagnostic& diagnostic, bool color) {
  const Style style{color};
  const bool error = diagnostic.severity == Severity::error;
  std::string result;
  if (const auto place = place_text(diagnostic.location); !place.empty()) {
    result += style("1", display_text(place, message_columns) + ":") + " ";
  }
  const auto code = diagnostic.code.empty() ? std::string{} : "[" + diagnostic.code + "]";
  result += style(error ? "1;31" : "1;35", (error ? "error" : "warning") + code + ":") + " ";
  result += style("1", display_text(diagnostic.message, message_columns)) + "\n";

  const auto suggestion =
      diagnostic.did_you_mean.empty() ? std::string{} : "did you mean " + in_quotes(diagnostic.did_you_mean) + "?";
  const auto lines = source_lines(diagnostic.location, suggestion, style);
  result += lines;
  if (lines.empty() && !suggestion.empty()) result += "  " + style("32", suggestion) + "\n";
  for (const auto& note : diagnostic.notes) {
    result += "  " + style("1;36", "note:") + " " + display_text(note.message, message_columns);
    if (note.location.source) result += " (" + display_text(note.location.to_string(), message_columns) + ")";
    result += "\n";
  }
  if (!diagnostic.help.empty()) {
    result += "  " + style("1;36", "help:") + " " + display_text(diagnostic.help, message_columns) + "\n";
  }
  return result;
}

std::string count_text(const std::vector<Diagnostic>& diagnostics) {
  const auto errors = std::ranges::count(diagnostics, Severity::error, &Diagnostic::severity);
  const auto warnings = std::ssize(diagnostics) - errors;
  const auto counted = [](auto count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  if (errors == 0) return warnings == 0 ? std::string{} : counted(warnings, "warning");
  return counted(errors, "error") + (warnings == 0 ? std::string{} : ", " + counted(warnings, "warning"));
}

std::string in_quotes(std::string_view text) { return "'" + display_text(text, 80) + "'"; }

}  // namespace lockstep
