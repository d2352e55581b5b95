#include "report/step_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <optional>

#include "report/check_text.hpp"
#include "report/text.hpp"

namespace lockstep {
namespace {

constexpr std::size_t usual_title_width = 19;  // so that most steps of a report align with each other
constexpr std::ptrdiff_t most_passing_lines = 4;
constexpr std::size_t most_failing_entries = 3;  // of one name: the first ones show where it starts

/// One line about a check and what is indented under it.
struct Entry {
  std::string title;
  std::string mark;  ///< "" if it is fine
  std::string outcome;
  std::vector<std::string> more;
  bool fine = false;
};

std::vector<std::string> statistics_of(const CheckResult& check) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : check.statistics)
    parts.push_back(fmt::format("{} {}", printable(name), number_text(value, 4)));
  return parts.empty() ? parts : std::vector{fmt::format("{}", fmt::join(parts, ", "))};
}

/// The message, unless the outcome says the same already.
std::vector<std::string> message_lines(const CheckResult& check, std::string_view outcome) {
  if (!check.message || is_fine(check)) return {};
  const bool counts_only = *check.message == fmt::format("{} of {} differ", check.mismatched, check.compared);
  if (counts_only || outcome.find(printable(*check.message)) != std::string_view::npos) return {};
  return lines_of(*check.message);
}

std::string mark_of(const CheckResult& check) {
  if (is_fine(check) || !check.verdict) return {};
  return check.verdict == Verdict::fail ? "FAIL" : std::string(name_of(*check.verdict));
}

Entry entry_of(const CheckResult& check, bool verbose) {
  auto lines = check_lines(check, verbose);
  Entry entry{title_of(check), mark_of(check), std::move(lines.front()), {}, is_fine(check)};
  entry.more.assign(std::make_move_iterator(lines.begin() + 1), std::make_move_iterator(lines.end()));
  return entry;
}

/// Several passing entries of one check as one.
Entry summary_of(const std::vector<const CheckResult*>& checks) {
  const auto& first = *checks.front();
  const auto same_ladder = std::all_of(checks.begin(), checks.end(),
                                       [&](const CheckResult* check) { return check->ladder == first.ladder; });
  if (same_ladder && first.ladder == "bits_equal") {
    std::int64_t compared = 0;
    for (const auto* check : checks) compared += check->compared;
    return {
        printable(first.name), {}, fmt::format("{} times bits equal ({})", checks.size(), grouped(compared)), {}, true};
  }
  return {printable(first.name), {}, fmt::format("{} times pass", checks.size()), {}, true};
}

/// Takes out the checks that a step did not come to, where another one failed: that is the cause. How many there were.
std::size_t take_unreached(std::vector<CheckResult>& checks) {
  const bool has_cause = std::ranges::count(checks, Verdict::fail, &CheckResult::verdict) > 0;
  return has_cause ? std::erase_if(checks, is_unreached) : 0;
}

/// The entries in the order of the declarations: passing ones of one name together, of failing ones the first few.
std::vector<Entry> collect(const std::vector<CheckResult>& checks) {
  std::vector<Entry> entries;
  std::vector<std::string_view> names;
  for (const auto& check : checks)
    if (std::find(names.begin(), names.end(), check.name) == names.end()) names.push_back(check.name);
  for (const auto name : names) {
    std::vector<const CheckResult*> fine;
    std::vector<const CheckResult*> other;
    for (const auto& check : checks)
      if (check.name == name) (is_fine(check) ? fine : other).push_back(&check);
    if (!fine.empty()) entries.push_back(fine.size() == 1 ? entry_of(*fine.front(), false) : summary_of(fine));
    for (std::size_t i = 0; i < std::min(other.size(), most_failing_entries); ++i)
      entries.push_back(entry_of(*other[i], false));
    if (other.size() > most_failing_entries)
      entries.push_back(
          {printable(name), {}, fmt::format("{} more (--verbose shows all)", other.size() - most_failing_entries), {}});
  }
  return entries;
}

/// Removes many passing entries; what to say instead.
std::optional<std::string> count_passing(std::vector<Entry>& entries) {
  const auto passing = std::count_if(entries.begin(), entries.end(), [](const Entry& entry) { return entry.fine; });
  if (passing <= most_passing_lines) return std::nullopt;
  std::erase_if(entries, [](const Entry& entry) { return entry.fine; });
  return entries.empty() ? fmt::format("{} checks", passing) : fmt::format("{} other checks pass", passing);
}

void append(std::vector<std::string>& lines, const std::vector<Entry>& entries) {
  auto width = usual_title_width;
  std::size_t mark_width = 0;
  for (const auto& entry : entries) {
    width = std::max(width, display_width(entry.title));
    mark_width = std::max(mark_width, entry.mark.size());
  }
  for (const auto& entry : entries) {
    const auto mark = mark_width == 0 ? "" : padded(entry.mark, mark_width) + "  ";
    lines.push_back(padded(entry.title, width) + "  " + mark + entry.outcome);
    for (const auto& line : entry.more) lines.push_back("  " + line);
  }
}

std::vector<std::string> reason_lines(const StepRecord& step) {
  std::vector<std::string> lines;
  if (step.reason) lines = lines_of(*step.reason);
  if (step.help) lines.push_back("help: " + printable(*step.help));
  const bool broke = step.status == StepStatus::error || step.status == StepStatus::crashed;
  if (!broke) return lines;
  for (const auto& line : step.output_tail) lines.push_back("| " + printable(line));
  return lines;
}

}  // namespace

std::vector<std::string> check_lines(const CheckResult& check, bool verbose) {
  std::vector<std::string> lines{outcome_of(check)};
  if (auto worst = worst_of(check)) lines.push_back(std::move(*worst));
  for (auto& line : message_lines(check, lines.front())) lines.push_back(std::move(line));
  if (!verbose) return lines;
  for (auto& line : statistics_of(check)) lines.push_back(std::move(line));
  if (check.bound_source != "default" && !check.bound_source.empty())
    lines.push_back("bound from " + printable(check.bound_source));
  return lines;
}

std::vector<std::string> step_lines(const StepRecord& step, bool verbose) {
  std::vector<std::string> lines;
  std::vector<std::string> intro;
  std::vector<Entry> entries;
  std::size_t unreached = 0;
  const bool judged =
      step.status != StepStatus::skipped && step.status != StepStatus::error && step.status != StepStatus::crashed;
  if (judged && verbose) {
    for (const auto& check : step.checks) entries.push_back(entry_of(check, true));
  } else if (judged) {
    auto checks = step.checks;
    unreached = take_unreached(checks);
    entries = collect(checks);
    if (auto passing = count_passing(entries)) intro.push_back(std::move(*passing));
  }
  if (step.summary) intro.push_back(printable(*step.summary));
  if (!step.scored && judged) intro.emplace_back("not scored");
  if (!intro.empty()) lines.push_back(fmt::format("{}", fmt::join(intro, " · ")));
  for (auto& line : reason_lines(step)) lines.push_back(std::move(line));
  append(lines, entries);
  if (unreached > 0) lines.push_back(fmt::format("{} check{} not reached", unreached, unreached == 1 ? "" : "s"));
  if (verbose)
    for (const auto& [name, value] : step.parameters)
      lines.push_back(printable(fmt::format("{} = {}", name, to_text(value))));
  return lines;
}

}  // namespace lockstep
