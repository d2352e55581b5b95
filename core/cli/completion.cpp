#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>

#include "cli/terminal_io.hpp"
#include "cli/verbs.hpp"
#include "pipeline/exit_code.hpp"

namespace lockstep::cli {
namespace {

/// What the shell offers for a value, by what the help calls it.
enum class Offer { nothing, files, folders, toml, json, safetensors, steps, ids, codes, rows };

Offer offer_of(std::string_view value) {
  if (value == "PIPELINE") return Offer::toml;
  if (value.starts_with("RECORD") || value.ends_with(".json")) return Offer::json;
  if (value.ends_with(".safetensors")) return Offer::safetensors;
  if (value == "CODE") return Offer::codes;
  if (value == "ROW") return Offer::rows;
  if (value == "FILE") return Offer::files;
  if (value == "DIR") return Offer::folders;
  return Offer::nothing;
}

/// STEP is the name of a step that can be described, or the id of one of the pipeline.
Offer offer_of(const Verb& verb, std::string_view value) {
  if (value != "STEP") return offer_of(value);
  return std::ranges::find(verb.positionals, "PIPELINE") == verb.positionals.end() ? Offer::steps : Offer::ids;
}

// Both shells ask the program itself, and read the ids where they are written.
constexpr std::string_view names_of_steps =
    R"sh("$lockstep" list 2>/dev/null | awk 'NF == 0 {exit} /^[A-Za-z0-9_.-]+ / {print $1}')sh";
constexpr std::string_view names_of_codes = R"sh("$lockstep" explain 2>/dev/null | awk '{print $1}')sh";
constexpr std::string_view ids_in_pipeline =
    R"sh(sed -nE 's/^[[:space:]]*id[[:space:]]*=[[:space:]]*"([A-Za-z_][A-Za-z0-9_-]*)".*/\1/p' "$pipeline" 2>/dev/null)sh";

constexpr std::string_view rows_of_pipeline =
    R"sh("$lockstep" plan "$pipeline" --format github-matrix 2>/dev/null | grep -oE '"row":"[^"]*"' | cut -d'"' -f4)sh";

/// A word that stands as it is, "step" of `lockstep new step NAME`.
bool is_literal(std::string_view positional) {
  return positional.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string_view::npos;
}

std::string bash_offer(Offer offer) {
  const auto words = [](std::string_view command) {
    return fmt::format("COMPREPLY=($(compgen -W \"$({})\" -- \"$word\"))", command);
  };
  const auto files = [](std::string_view ending) {
    return fmt::format(
        "compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- \"$word\"; compgen -f -X '!*.{}' -- \"$word\"))",
        ending);
  };
  switch (offer) {
    case Offer::nothing:
      break;
    case Offer::files:
      return "compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$word\"))";
    case Offer::folders:
      return "compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- \"$word\"))";
    case Offer::toml:
      return files("toml");
    case Offer::json:
      return files("json");
    case Offer::safetensors:
      return files("safetensors");
    case Offer::steps:
      return words(names_of_steps);
    case Offer::codes:
      return words(names_of_codes);
    case Offer::ids:
      return words(ids_in_pipeline);
    case Offer::rows:
      return words(rows_of_pipeline);
  }
  return "COMPREPLY=()";
}

std::string verb_names() {
  std::vector<std::string_view> names;
  for (const auto& verb : verbs()) names.push_back(verb.name);
  return fmt::format("{} help --help --version", fmt::join(names, " "));
}

std::string bash_verb(const Verb& verb) {
  auto text = fmt::format("    {})\n      case $before in\n", verb.name);
  std::vector<std::string> flags{"--help"};
  for (const auto& option : verb.options) {
    flags.push_back(fmt::format("--{}", option.name));
    if (option.value.empty()) continue;
    const auto offer = option.choices.empty() ? bash_offer(offer_of(verb, option.value))
                                              : fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$word\"))",
                                                            fmt::join(option.choices, " "));
    text += fmt::format("        --{}) {}; return ;;\n", option.name, offer);
  }
  text += fmt::format(
      "      esac\n      if [[ $word == -* ]]; then COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return; fi\n",
      fmt::join(flags, " "));
  if (!verb.positionals.empty() && is_literal(verb.positionals.front()))
    text += fmt::format("      if [[ $COMP_CWORD == 2 ]]; then COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); fi\n",
                        verb.positionals.front());
  else if (!verb.positionals.empty())
    text += fmt::format("      {}\n", bash_offer(offer_of(verb, verb.positionals.front())));
  return text + "      ;;\n";
}

std::string bash_script() {
  auto text = fmt::format(
      "# bash completion of lockstep: source <(lockstep completion bash)\n"
      "_lockstep() {{\n"
      "  local lockstep=${{COMP_WORDS[0]}} word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} "
      "pipeline= each\n"
      "  COMPREPLY=()\n"
      "  if [[ $COMP_CWORD == 1 ]]; then COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return; fi\n"
      "  for each in \"${{COMP_WORDS[@]:2}}\"; do if [[ $each == *.toml ]]; then pipeline=$each; break; fi; done\n"
      "  case ${{COMP_WORDS[1]}} in\n",
      verb_names());
  for (const auto& verb : verbs()) text += bash_verb(verb);
  return text +
         "  esac\n"
         "}\n"
         "complete -F _lockstep lockstep\n";
}

/// A text inside '…' of an _arguments spec.
std::string zsh_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'')
      result += "'\\''";
    else if (c == '[' || c == ']' || c == ':')
      result += std::string("\\") + c;
    else
      result += c;
  }
  return result;
}

std::string zsh_action(Offer offer) {
  switch (offer) {
    case Offer::nothing:
      break;
    case Offer::files:
      return "_files";
    case Offer::folders:
      return "_files -/";
    case Offer::toml:
      return "_files -g \"*.toml\"";
    case Offer::json:
      return "_files -g \"*.json\"";
    case Offer::safetensors:
      return "_files -g \"*.safetensors\"";
    case Offer::steps:
      return "_lockstep_steps";
    case Offer::ids:
      return "_lockstep_ids";
    case Offer::codes:
      return "_lockstep_codes";
    case Offer::rows:
      return "_lockstep_rows";
  }
  return " ";
}

std::string zsh_option(const Verb& verb, const OptionSpec& option) {
  auto spec = fmt::format("--{}{}[{}]", option.name, option.value.empty() ? "" : "=", zsh_text(option.help));
  if (option.repeatable) spec.insert(0, 1, '*');
  if (!option.value.empty()) {
    const auto action = option.choices.empty() ? zsh_action(offer_of(verb, option.value))
                                               : fmt::format("({})", fmt::join(option.choices, " "));
    spec += fmt::format(":{}:{}", zsh_text(option.value), action);
  }
  return fmt::format("'{}'", spec);
}

std::string zsh_script() {
  std::string text = fmt::format(
      "#compdef lockstep\n"
      "# zsh completion of lockstep: lockstep completion zsh >DIR/_lockstep, DIR in $fpath\n"
      "_lockstep_steps() {{ local lockstep=${{words[1]}}; compadd -- ${{(f)\"$({})\"}} }}\n"
      "_lockstep_codes() {{ local lockstep=${{words[1]}}; compadd -- ${{(f)\"$({})\"}} }}\n"
      "_lockstep_ids() {{\n"
      "  local pipeline=${{words[(r)*.toml]}}\n"
      "  compadd -- ${{(f)\"$({})\"}}\n"
      "}}\n"
      "_lockstep_rows() {{\n"
      "  local lockstep=${{words[1]}} pipeline=${{words[(r)*.toml]}}\n"
      "  compadd -- ${{(f)\"$({})\"}}\n"
      "}}\n"
      "_lockstep() {{\n"
      "  local -a verbs=(\n",
      names_of_steps, names_of_codes, ids_in_pipeline, rows_of_pipeline);
  for (const auto& verb : verbs()) text += fmt::format("    '{}:{}'\n", verb.name, zsh_text(verb.summary));
  text +=
      "  )\n"
      "  if (( CURRENT == 2 )); then _describe verb verbs; return; fi\n"
      "  local verb=${words[2]}\n"
      "  words=(${words[1]} ${words[3,-1]}); (( CURRENT-- ))\n"
      "  case $verb in\n";
  for (const auto& verb : verbs()) {
    text += fmt::format("    {}) _arguments '--help[options of the verb]'", verb.name);
    for (const auto& option : verb.options) text += " \\\n      " + zsh_option(verb, option);
    for (const auto& positional : verb.positionals)
      text += fmt::format(
          " \\\n      '{}:{}:{}'", positional.ends_with("…") ? "*" : "", zsh_text(positional),
          is_literal(positional) ? fmt::format("({})", positional) : zsh_action(offer_of(verb, positional)));
    text += " ;;\n";
  }
  return text +
         "  esac\n"
         "}\n"
         "if [[ $funcstack[1] == _lockstep ]]; then _lockstep \"$@\"; else compdef _lockstep lockstep; fi\n";
}

}  // namespace

int completion(const Arguments& arguments) {
  const auto& shell = arguments.positional(0);
  if (shell.value == "bash" || shell.value == "zsh") {
    print(stdout, shell.value == "bash" ? bash_script() : zsh_script());
    return exit_code::passed;
  }
  print({{.code = "C005",
          .message = fmt::format("there is no completion for the shell '{}'", shell.value),
          .location = shell.location,
          .help = "the shells are bash and zsh"}},
        use_colour(arguments, stderr));
  return exit_code::invalid;
}

}  // namespace lockstep::cli
