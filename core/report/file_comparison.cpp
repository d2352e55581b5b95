#include "report/file_comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>

#include "report/check_text.hpp"
#include "report/palette.hpp"
#include "report/step_text.hpp"
#include "report/text.hpp"

namespace lockstep {
namespace {

std::ptrdiff_t count(const FileComparison& comparison, Verdict verdict) {
  return std::count_if(comparison.results.begin(), comparison.results.end(),
                       [verdict](const CheckResult& result) { return result.verdict == verdict; });
}

/// Of a tensor without elements; any other tensor that was not compared (its metric is undefined) has failed.
bool is_empty(const CheckResult& result) { return result.verdict == Verdict::vacuous && !result.ladder; }
bool has_failed(const CheckResult& result) {
  return result.verdict == Verdict::fail || (result.verdict == Verdict::vacuous && !is_empty(result));
}

bool compared_something(const FileComparison& comparison) {
  return count(comparison, Verdict::vacuous) < std::ssize(comparison.results);
}

std::string line(std::string_view word, std::string_view colour, std::string_view name, std::size_t width,
                 const std::string& text, const TerminalStyle& style) {
  constexpr std::size_t word_width = 5;
  return painted(std::string(word), colour, style.colour) + std::string(word_width - word.size() + 2, ' ') +
         padded(name, width) + "  " + text + "\n";
}

std::string line(const CheckResult& result, std::size_t width, const TerminalStyle& style) {
  const bool failed = has_failed(result);
  const bool vacuous = is_empty(result);
  if (style.detail == Detail::quiet && !failed && !vacuous) return {};
  const auto lines = check_lines(result, style.detail == Detail::verbose);
  auto text = line(failed    ? "FAIL"
                   : vacuous ? "warn"
                             : "pass",
                   failed    ? palette::bad
                   : vacuous ? palette::warning
                             : palette::good,
                   title_of(result), width, lines.front(), style);
  constexpr std::size_t before_name = 7;
  for (std::size_t i = 1; i < lines.size(); ++i) text += std::string(before_name + width + 4, ' ') + lines[i] + "\n";
  return text;
}

}  // namespace

bool passes(const FileComparison& comparison) {
  return compared_something(comparison) && std::ranges::none_of(comparison.results, has_failed) &&
         comparison.only_expected.empty() && comparison.only_actual.empty();
}

std::string file_comparison_text(const FileComparison& comparison, const TerminalStyle& style) {
  std::size_t width = 0;
  for (const auto& result : comparison.results) width = std::max(width, display_width(title_of(result)));
  for (const auto* names : {&comparison.only_expected, &comparison.only_actual})
    for (const auto& name : *names) width = std::max(width, display_width(printable(name)));

  std::string text;
  if (style.detail != Detail::quiet)
    text = fmt::format("{} · {}\n\n", printable(comparison.expected_file), printable(comparison.actual_file));
  for (const auto& result : comparison.results) text += line(result, width, style);
  for (const auto& [names, file] : {std::pair{&comparison.only_expected, &comparison.expected_file},
                                    std::pair{&comparison.only_actual, &comparison.actual_file}})
    for (const auto& name : *names)
      text += line("FAIL", palette::bad, printable(name), width, "only in " + printable(*file), style);

  if (style.detail != Detail::quiet) text += "\n";
  const bool nothing = !compared_something(comparison);
  if (nothing)
    text += painted(comparison.results.empty() ? "nothing was compared: the files have no tensor in common"
                                               : "nothing was compared: no tensor has elements",
                    palette::bad, style.colour) +
            "\n";
  std::vector<std::string> parts;
  const auto add = [&parts](std::string_view name, std::ptrdiff_t n) {
    if (n > 0) parts.push_back(fmt::format("{}: {}", name, grouped(n)));
  };
  add("failed", std::ranges::count_if(comparison.results, has_failed));
  add("missing", std::ssize(comparison.only_expected) + std::ssize(comparison.only_actual));
  add("empty", std::ranges::count_if(comparison.results, is_empty));
  add("passed", count(comparison, Verdict::pass));
  if (!parts.empty())
    text += painted(fmt::format("{}", fmt::join(parts, " · ")), passes(comparison) ? palette::good : palette::bad,
                    style.colour) +
            "\n";
  return text;
}

}  // namespace lockstep
