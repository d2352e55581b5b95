#include "pipeline/diagnostic_codes.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "pipeline/code_families.hpp"

namespace lockstep {
namespace {

struct Family {
  std::string_view title;
  std::span<const DiagnosticCode> codes;
};

std::array<Family, 7> families() {
  return {{{"P: pipeline files, overlays, --set and binding", pipeline_codes()},
           {"L: plugins that do not load", plugin_codes()},
           {"C: command line", command_line_codes()},
           {"S: steps that fail while they run", run_codes()},
           {"F: data files", file_codes()},
           {"R: writing of reports", report_codes()},
           {"N: new steps", new_codes()}}};
}

bool same_code(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::toupper(x) == std::toupper(y); });
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of('\n');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of("\n ") + 1 - first);
}

}  // namespace

const DiagnosticCode* find_code(std::string_view code) {
  for (const auto& family : families()) {
    for (const auto& entry : family.codes) {
      if (same_code(entry.code, code)) return &entry;
    }
  }
  return nullptr;
}

std::vector<DiagnosticCode> all_codes() {
  std::vector<DiagnosticCode> result;
  for (const auto& family : families()) {
    const auto first = static_cast<std::ptrdiff_t>(result.size());
    result.insert(result.end(), family.codes.begin(), family.codes.end());
    std::ranges::sort(result.begin() + first, result.end(), {}, &DiagnosticCode::code);
  }
  return result;
}

std::string code_page(const DiagnosticCode& code) {
  return fmt::format("{}: {}\n\n{}\n", code.code, code.title, trimmed(code.page));
}

std::string diagnostics_markdown() {
  std::string text =
      "# Diagnostics\n\n"
      "Every message of Lockstep that is about something you wrote or handed over carries a code. `lockstep explain "
      "CODE`\n"
      "shows the same page as this list. The codes are stable: scripts may rely on them.\n";
  for (const auto& family : families()) {
    if (family.codes.empty()) continue;
    text += fmt::format("\n## {}\n", family.title);
    std::vector<DiagnosticCode> codes(family.codes.begin(), family.codes.end());
    std::ranges::sort(codes, {}, &DiagnosticCode::code);
    for (const auto& code : codes) text += "\n### " + code_page(code);
  }
  return text;
}

}  // namespace lockstep
