#include "cli/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <boost/program_options.hpp>
#include <utility>

#include <lockstep/diagnostic.hpp>
#include "pipeline/render_diagnostic.hpp"

namespace lockstep::cli {
namespace {

namespace po = boost::program_options;

/// A word as a shell would need it written.
std::string shell_quoted(const std::string& word) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("_-./=:,+@%").find(c) != std::string_view::npos || static_cast<unsigned char>(c) >= 0x80;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  return "'" + word + "'";
}

po::options_description describe(const Verb& verb) {
  po::options_description description;
  for (const auto& option : verb.options) {
    const std::string name(option.name);
    if (option.value.empty())
      description.add_options()(name.c_str(), po::bool_switch());
    else
      description.add_options()(name.c_str(), po::value<std::string>());
  }
  return description;
}

std::string message_of(const po::error_with_option_name& error) {
  const auto name = error.get_option_name();
  if (const auto* syntax = dynamic_cast<const po::invalid_command_line_syntax*>(&error)) {
    if (syntax->kind() == po::invalid_command_line_syntax::extra_parameter)
      return fmt::format("option '{}' takes no value", name);
    return fmt::format("option '{}' needs a value", name);
  }
  return error.what();
}

std::string option_names(const Verb& verb) {
  std::string names;
  for (const auto& option : verb.options) names += fmt::format("{}--{}", names.empty() ? "" : ", ", option.name);
  return names;
}

/// Collects what is wrong with one command line.
class Reader {
 public:
  Reader(const CommandLine& line, const Verb& verb) : line_(line), verb_(verb) {}

  std::vector<po::option> split() {
    const std::vector<std::string> words(line_.words.begin() + 1, line_.words.end());
    const auto style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    try {
      return po::command_line_parser(words).options(description_).style(style).allow_unregistered().run().options;
    } catch (const po::error_with_option_name& error) {
      const auto name = error.get_option_name();
      const auto at = std::find_if(line_.words.begin(), line_.words.end(), [&](const std::string& word) {
        return word == name || word.starts_with(name + "=");
      });
      fail("C003", message_of(error), line_.place(static_cast<std::size_t>(at - line_.words.begin())));
      throw CommandLineError{std::move(diagnostics_)};
    }
  }

  /// The index of the word that `option` was read from.
  std::size_t word_of(const po::option& option) {
    const auto from = line_.words.begin() + static_cast<std::ptrdiff_t>(next_);
    const auto at = std::find(from, line_.words.end(), option.original_tokens.front());
    const auto index = static_cast<std::size_t>(at - line_.words.begin());
    next_ = index + option.original_tokens.size();
    return index;
  }

  void unknown(const po::option& option, std::size_t word) {
    std::vector<std::string> known;
    known.reserve(verb_.options.size());
    for (const auto& spec : verb_.options) known.push_back("--" + std::string(spec.name));
    const auto& token = option.original_tokens.front();
    fail("C002", fmt::format("unknown option {} of 'lockstep {}'", in_quotes(token), verb_.name), line_.place(word),
         "options: " + option_names(verb_), did_you_mean(token.substr(0, token.find('=')), known));
  }

  const OptionSpec& spec_of(const po::option& option) const {
    return *std::find_if(verb_.options.begin(), verb_.options.end(),
                         [&](const OptionSpec& spec) { return spec.name == option.string_key; });
  }

  /// Boost takes the next word for the value whatever it is: `--json --quiet` would write a file named '--quiet'.
  bool lacks_value(const po::option& option, std::size_t word) {
    if (option.original_tokens.size() < 2 || !option.original_tokens[1].starts_with("--")) return false;
    fail("C003",
         fmt::format("option '--{}' needs a value, found {}", option.string_key, in_quotes(option.value.front())),
         line_.place(word), fmt::format("a value that begins so is joined by '=': --{}=VALUE", option.string_key));
    return true;
  }

  void check(const OptionSpec& spec, const Arguments::Given& given, bool again) {
    if (again && !spec.repeatable)
      fail("C004", fmt::format("option '--{}' is given more than once", spec.name), given.location);
    if (!spec.value.empty() && given.value.empty()) {
      fail("C005", fmt::format("'--{}' is empty, expected {}", spec.name, spec.value), given.location);
      return;
    }
    if (spec.choices.empty()) return;
    if (std::find(spec.choices.begin(), spec.choices.end(), given.value) != spec.choices.end()) return;
    fail("C005",
         fmt::format("'--{}' is {}, expected one of {}", spec.name, in_quotes(given.value),
                     fmt::join(spec.choices, ", ")),
         given.location, {}, did_you_mean(given.value, {spec.choices.begin(), spec.choices.end()}));
  }

  void check_positionals(const std::vector<Arguments::Given>& given) {
    if (!diagnostics_.empty()) return;  // an unknown option leaves its value behind
    const auto expected = verb_.positionals.size();
    for (std::size_t i = given.size(); verb_.positionals_required && i < expected; ++i)
      fail("C006", fmt::format("'lockstep {}' needs {}", verb_.name, verb_.positionals[i]), line_.end(),
           fmt::format("usage: lockstep {} {} …", verb_.name, fmt::join(verb_.positionals, " ")));
    if (expected > 0 && verb_.positionals.back().ends_with("…")) return;
    for (std::size_t i = expected; i < given.size(); ++i)
      fail("C007",
           fmt::format("'lockstep {}' takes {} argument{}, {} is one more", verb_.name, expected,
                       expected == 1 ? "" : "s", in_quotes(given[i].value)),
           given[i].location);
  }

  void check_exclusive(const Arguments& arguments) {
    for (const auto& [one, other] : verb_.exclusive) {
      if (!arguments.has(one) || !arguments.has(other)) continue;
      fail("C008", fmt::format("'--{}' and '--{}' cannot go together", one, other), arguments.option(other)->location,
           "leave one of them out");
    }
  }

  void finish() {
    if (!diagnostics_.empty()) throw CommandLineError{std::move(diagnostics_)};
  }

 private:
  void fail(std::string code, std::string message, Location location, std::string help = {}, std::string near = {}) {
    diagnostics_.push_back({.code = std::move(code),
                            .message = std::move(message),
                            .location = std::move(location),
                            .did_you_mean = std::move(near),
                            .help = std::move(help)});
  }

  const CommandLine& line_;
  const Verb& verb_;
  po::options_description description_ = describe(verb_);
  std::vector<Diagnostic> diagnostics_;
  std::size_t next_ = 1;
};

}  // namespace

std::optional<Arguments::Given> Arguments::option(std::string_view name) const {
  const auto found = options_.find(name);
  if (found == options_.end()) return std::nullopt;
  return found->second.front();
}

std::vector<Arguments::Given> Arguments::all(std::string_view name) const {
  const auto found = options_.find(name);
  return found == options_.end() ? std::vector<Given>{} : found->second;
}

std::vector<std::string> Arguments::values(std::string_view name) const {
  auto found = all(name);
  std::vector<std::string> values;
  values.reserve(found.size());
  for (auto& given : found) values.push_back(std::move(given.value));
  return values;
}

CommandLine::CommandLine(std::vector<std::string> arguments) : words(std::move(arguments)) {
  std::string text = "lockstep";
  for (const auto& word : words) {
    text += ' ';
    columns_.push_back(text.size() + 1);
    text += shell_quoted(word);
  }
  source_ = std::make_shared<const SourceText>(SourceText{"command line", std::move(text)});
}

Location CommandLine::place(std::size_t index, bool value) const {
  if (index >= words.size()) return end();
  const auto& word = words[index];
  const auto equals = word.find('=');
  if (value && word.starts_with("--") && equals != std::string::npos && shell_quoted(word) == word)
    return {source_, 1, columns_[index] + equals + 1, std::max<std::size_t>(1, word.size() - equals - 1)};
  return {source_, 1, columns_[index], shell_quoted(word).size()};
}

Location CommandLine::end() const { return {source_, 1, source_->text.size() + 1, 1}; }

Arguments CommandLine::parse(const Verb& verb) const {
  Reader reader(*this, verb);
  Arguments arguments;
  for (const auto& option : reader.split()) {
    const auto word = reader.word_of(option);
    if (option.unregistered) {
      reader.unknown(option, word);
      continue;
    }
    if (option.position_key >= 0) {
      arguments.positionals_.push_back({option.value.front(), place(word)});
      continue;
    }
    if (reader.lacks_value(option, word)) continue;
    const auto& spec = reader.spec_of(option);
    auto& values = arguments.options_[std::string(spec.name)];
    const auto place_of_value = option.original_tokens.size() > 1 ? place(word + 1) : place(word, true);
    Arguments::Given given{option.value.empty() ? "" : option.value.front(), place_of_value};
    reader.check(spec, given, !values.empty());
    values.push_back(std::move(given));
  }
  reader.check_exclusive(arguments);
  reader.check_positionals(arguments.positionals_);
  reader.finish();
  return arguments;
}

}  // namespace lockstep::cli
