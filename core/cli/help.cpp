#include <fmt/format.h>
#include <algorithm>

#include "cli/verbs.hpp"

namespace lockstep::cli {
namespace {

std::string usage(const Verb& verb) {
  auto text = fmt::format("lockstep {}", verb.name);
  for (const auto& positional : verb.positionals)
    text += verb.positionals_required ? fmt::format(" {}", positional) : fmt::format(" [{}]", positional);
  return text;
}

std::string left_side(const OptionSpec& option) {
  return fmt::format("--{}{}{}", option.name, option.value.empty() ? "" : " ", option.value);
}

}  // namespace

std::string help() {
  std::string text =
      "Lockstep checks, one step at a time, that a runtime computes the same numbers as its reference.\n"
      "\n"
      "usage: lockstep VERB …\n"
      "\n";
  std::size_t width = 0;
  for (const auto& verb : verbs()) width = std::max(width, usage(verb).size());
  for (const auto& verb : verbs()) text += fmt::format("  {:<{}}  {}\n", usage(verb), width, verb.summary);
  text +=
      "\n"
      "  lockstep VERB --help    options of a verb; also: lockstep help VERB\n"
      "  lockstep --version      version of the program\n"
      "\n"
      "exit codes: 0 passed, 1 a check failed or nothing was verified, 2 invalid pipeline or command line,\n"
      "            3 a plugin does not load, 4 a step or a report ended in an error, 5 a step crashed, 6 interrupted\n"
      "plugins:    searched in --plugin-path, in LOCKSTEP_PLUGIN_PATH, then in ../lib/lockstep/plugins beside the "
      "program\n"
      "pages:      ../share/lockstep/docs beside an installed program, docs of the source tree; first tutorial.md, "
      "ci.md\n";
  return text;
}

std::string help(const Verb& verb) {
  auto text = fmt::format("{}\n\nusage: {}{}\n", verb.summary, usage(verb), verb.options.empty() ? "" : " [options]");
  if (!verb.details.empty()) text += fmt::format("\n{}\n", verb.details);
  if (verb.options.empty()) return text;
  std::size_t width = 0;
  for (const auto& option : verb.options) width = std::max(width, left_side(option).size());
  text += "\noptions:\n";
  for (const auto& option : verb.options)
    text +=
        fmt::format("  {:<{}}  {}{}\n", left_side(option), width, option.help, option.repeatable ? "; repeatable" : "");
  return text;
}

}  // namespace lockstep::cli
