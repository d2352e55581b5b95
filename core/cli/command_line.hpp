#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lockstep/diagnostic.hpp>

namespace lockstep::cli {

/// An option of a verb.
struct OptionSpec {
  std::string_view name;   ///< without dashes
  std::string_view value;  ///< what the help calls its value, "" for a flag
  bool repeatable = false;
  std::string_view help;
  std::vector<std::string_view> choices = {};  ///< the values it may have, empty: any
};

class Arguments;

/// A verb of the program; `help` and the parser read the same description.
struct Verb {
  std::string_view name;
  std::vector<std::string_view> positionals;  ///< in this order; the last may end in "…": one or more
  std::string_view summary;
  std::string_view details;
  std::vector<OptionSpec> options;
  std::vector<std::pair<std::string_view, std::string_view>> exclusive;  ///< options that cannot go together
  int (*run)(const Arguments&);                                          ///< returns the exit code
  bool positionals_required = true;                                      ///< else all may be left out
};

/// The arguments of one verb, with the place of each for diagnostics. The command line is a source text of one line.
class Arguments {
 public:
  struct Given {
    std::string value;
    Location location;
  };

  [[nodiscard]] bool has(std::string_view option) const { return options_.contains(option); }
  /// The value of an option that may be given once.
  [[nodiscard]] std::optional<Given> option(std::string_view name) const;
  /// Every value of a repeatable option, in order.
  [[nodiscard]] std::vector<Given> all(std::string_view name) const;
  /// The values alone.
  [[nodiscard]] std::vector<std::string> values(std::string_view name) const;
  [[nodiscard]] bool has_positional() const { return !positionals_.empty(); }
  [[nodiscard]] const Given& positional(std::size_t index) const { return positionals_.at(index); }
  [[nodiscard]] const std::vector<Given>& positionals() const { return positionals_; }

 private:
  friend struct CommandLine;
  std::map<std::string, std::vector<Given>, std::less<>> options_;
  std::vector<Given> positionals_;
};

/// The words after the program's name, as one source text.
struct CommandLine {
  explicit CommandLine(std::vector<std::string> words);

  /// Reads the words after the verb. Throws CommandLineError with everything that is wrong.
  [[nodiscard]] Arguments parse(const Verb& verb) const;
  /// The place of word `index`; the part after '=' if `value`.
  [[nodiscard]] Location place(std::size_t index, bool value = false) const;
  /// Just after the last word: where something is missing.
  [[nodiscard]] Location end() const;

  std::vector<std::string> words;

 private:
  std::shared_ptr<const SourceText> source_;
  std::vector<std::size_t> columns_;
};

/// Everything that is wrong with a command line; exit code 2.
struct CommandLineError {
  std::vector<Diagnostic> diagnostics;
};

}  // namespace lockstep::cli
