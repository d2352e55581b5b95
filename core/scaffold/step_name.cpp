#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include "pipeline/render_diagnostic.hpp"
#include "scaffold/new_step.hpp"

namespace lockstep::scaffold {
namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

bool is_part(std::string_view text) {
  const auto allowed = [](char c) { return is_lower(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !text.empty() && is_lower(text.front()) && std::ranges::all_of(text, allowed);
}

}  // namespace

std::string StepName::type() const {
  std::string type;
  bool starts_word = true;
  for (const char c : name) {
    if (c != '_') type += starts_word && is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
    starts_word = c == '_';
  }
  return type + "Step";
}

StepName parse_step_name(const std::string& text) {
  const auto dot = text.find('.');
  if (dot != std::string::npos && is_part(text.substr(0, dot)) && is_part(text.substr(dot + 1)))
    return {text.substr(0, dot), text.substr(dot + 1)};
  throw Error{
      Diagnostic{.code = "N002",
                 .message = fmt::format("{} is no name of a step, expected family.name", in_quotes(text)),
                 .help = "both parts are lower-case letters, digits and '_' and begin with a letter: mine.rms_norm"}};
}

}  // namespace lockstep::scaffold
