#include <fmt/format.h>
#include <algorithm>
#include <cctype>

#include "baseline/baseline.hpp"

namespace lockstep {
namespace {

/// Numbers in texts by their value: "layer 2" before "layer 10".
bool naturally_less(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0;
  std::size_t k = 0;
  while (i < a.size() && k < b.size()) {
    if (is_digit(a[i]) && is_digit(b[k])) {
      const auto number = [&is_digit](std::string_view text, std::size_t& at) {
        while (at < text.size() && text[at] == '0') ++at;
        const auto begin = at;
        while (at < text.size() && is_digit(text[at])) ++at;
        return text.substr(begin, at - begin);
      };
      const auto x = number(a, i);
      const auto y = number(b, k);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else if (a[i] != b[k]) {
      return a[i] < b[k];
    } else {
      ++i;
      ++k;
    }
  }
  return a.size() - i < b.size() - k;
}

bool comes_before(const BaselineEntry& a, const BaselineEntry& b) {
  if (a.step != b.step) return a.step < b.step;
  if (a.check != b.check) return a.check < b.check;
  return naturally_less(a.subject.value_or(""), b.subject.value_or(""));
}

std::string line_of(const BaselineEntry& entry) {
  Value::Table fields{{"step", entry.step}, {"check", entry.check}};
  if (entry.subject) fields.emplace_back("subject", *entry.subject);
  fields.emplace_back("metric", std::string(name_of(entry.metric)));
  if (entry.level != Level::require) fields.emplace_back("level", std::string(name_of(entry.level)));
  if (entry.verdict != Verdict::pass) fields.emplace_back("verdict", std::string(name_of(entry.verdict)));
  if (entry.value) fields.emplace_back("value", *entry.value);
  if (entry.ladder) fields.emplace_back("ladder", *entry.ladder);
  if (entry.relative) fields.emplace_back("relative", *entry.relative);
  return to_text(Value(std::move(fields)));
}

}  // namespace

std::string to_toml(const Baseline& baseline) {
  Value::Table absolute;
  for (const auto& [metric, number] : baseline.margin.absolute) absolute.emplace_back(metric, number);
  auto text = fmt::format(
      "# What the checks of a pipeline measured when they were last taken for good; docs/baseline.md tells about it.\n"
      "# Written by 'lockstep run PIPELINE --baseline FILE --update-baseline'. Margins may be edited.\n"
      "schema = 1\npipeline = {}\n\n[margin]\nrelative = {}\nabsolute = {}\n",
      to_text(Value(baseline.pipeline)), to_text(Value(baseline.margin.relative)), to_text(Value(std::move(absolute))));
  for (const auto& section : baseline.sections) {
    text += "\n[[baseline]]\nenvironment = " + to_text(Value(Value::Table(section.environment))) + "\nchecks = [\n";
    auto checks = section.checks;
    std::ranges::stable_sort(checks, comes_before);
    for (const auto& entry : checks) text += "  " + line_of(entry) + ",\n";
    text += "]\n";
  }
  for (const auto& reason : baseline.history) {
    text += fmt::format("\n[[history]]\ndate = {}\nreason = {}\nchanges = [\n", to_text(Value(reason.date)),
                        to_text(Value(reason.reason)));
    for (const auto& change : reason.changes) text += "  " + to_text(Value(change)) + ",\n";
    text += "]\n";
  }
  return text;
}

}  // namespace lockstep
