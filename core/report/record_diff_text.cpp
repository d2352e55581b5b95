#include "report/record_diff_text.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "report/json_value.hpp"
#include "report/palette.hpp"
#include "report/text.hpp"

namespace lockstep {
namespace {

using Group = RecordChange::Group;

constexpr std::size_t most_lines = 40;  // of one group

std::string_view heading_of(Group group) {
  switch (group) {
    case Group::verdict:
      return "verdicts";
    case Group::presence:
      return "only in one record";
    case Group::value:
      return "values";
    case Group::setup:
      return "set-up";
    case Group::environment:
      return "environment";
    case Group::information:
      return "for information";
  }
  return {};
}

std::string place_of(const RecordChange& change) {
  const auto row = change.row.empty() ? "" : printable(change.row) + "  ";
  if (change.step.empty()) return row + "run";
  auto text = row + change.step;
  if (!change.check.empty()) text += " " + change.check;
  if (change.subject) text += " " + *change.subject;
  return printable(text);
}

/// Names of verdicts and fields without quotes; what may hold anything with them.
std::string text_of(const std::optional<Value>& value, bool plain) {
  if (!value) return "none";
  const auto* text = std::get_if<std::string>(&value->data);
  if (std::holds_alternative<std::monostate>(value->data)) return "none";
  return printable(plain && text != nullptr ? *text : to_text(*value));
}

std::string line_of(const RecordChange& change) {
  if (change.group == Group::presence)
    return fmt::format("{} {} {} ({})", change.before ? "-" : "+", change.field, place_of(change),
                       text_of(change.before ? change.before : change.after, true));
  constexpr int digits = 4;
  auto before = text_of(change.before, change.group == Group::verdict);
  auto after = text_of(change.after, change.group == Group::verdict);
  const auto factor = factor_of(change);
  if (factor) std::tie(before, after) = value_texts(*change.before, *change.after, digits);
  auto line = fmt::format("{}  {}: {} -> {}", place_of(change), printable(change.field), before, after);
  if (factor) line += fmt::format(" (x {})", number_text(*factor, 3));
  return line;
}

}  // namespace

std::string record_diff_text(const std::vector<RecordChange>& changes, const TerminalStyle& style) {
  const bool verbose = style.detail == Detail::verbose;
  std::string text;
  for (std::size_t i = 0; i < changes.size() && style.detail != Detail::quiet;) {
    const auto group = changes[i].group;
    if (group == Group::information && !verbose) break;
    const auto end = static_cast<std::size_t>(
        std::ranges::find_if(changes.begin() + static_cast<std::ptrdiff_t>(i), changes.end(),
                             [group](const RecordChange& change) { return change.group != group; }) -
        changes.begin());
    text += painted(std::string(heading_of(group)), palette::strong, style.colour) + "\n";
    const auto shown = verbose ? end : std::min(end, i + most_lines);
    for (std::size_t k = i; k < shown; ++k) text += "  " + line_of(changes[k]) + "\n";
    if (shown < end)
      text += fmt::format("  {} more (--verbose shows all)\n", grouped(static_cast<std::int64_t>(end - shown)));
    text += "\n";
    i = end;
  }
  const auto count =
      std::ranges::count_if(changes, [](const RecordChange& change) { return change.group != Group::information; });
  const auto last =
      count == 0 ? std::string("no difference") : fmt::format("{} difference{}", grouped(count), count == 1 ? "" : "s");
  return text + painted(last, count == 0 ? palette::good : palette::bad, style.colour) + "\n";
}

std::string record_diff_json(const std::string& before, const std::string& after,
                             const std::vector<RecordChange>& changes) {
  Json json = {{"schema", 1}, {"before", before}, {"after", after}, {"equal", is_equal(changes)}};
  json["changes"] = Json::array();
  for (const auto& change : changes) {
    const auto factor = factor_of(change);
    json["changes"].push_back({{"group", name_of(change.group)},
                               {"row", change.row.empty() ? Json(nullptr) : Json(change.row)},
                               {"step", change.step.empty() ? Json(nullptr) : Json(change.step)},
                               {"check", change.check.empty() ? Json(nullptr) : Json(change.check)},
                               {"subject", change.subject ? Json(*change.subject) : Json(nullptr)},
                               {"field", change.field},
                               {"before", change.before ? to_json(*change.before) : Json(nullptr)},
                               {"after", change.after ? to_json(*change.after) : Json(nullptr)},
                               {"factor", factor ? number(*factor) : Json(nullptr)}});
  }
  return document(json);
}

}  // namespace lockstep
