#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <lockstep/export.hpp>

namespace lockstep {

/// A text that diagnostics point into: a pipeline file, an overlay, one `--set` argument.
struct SourceText {
  std::string name;  ///< as shown: "pipelines/gemma4.toml"; an option's name for an argument: "--set"
  std::string text;  ///< whole content, for the line under the message
};

/// A place in a source text. Lines and columns count from 1 (columns in bytes); line 0 means "the whole text".
struct Location {
  std::shared_ptr<const SourceText> source;  ///< null: nowhere in particular
  std::size_t line = 0;
  std::size_t column = 0;
  std::size_t length = 1;  ///< bytes to underline, on the same line

  /// "file:line:column", "file" or ""; "--set max_seq" for a value from the command line.
  [[nodiscard]] LOCKSTEP_API std::string to_string() const;
};

enum class Severity { error, warning };

/// One finding. A message starts in lower case, has no final period, and says what was found and what was expected.
struct Diagnostic {
  struct Note {
    std::string message;
    Location location = {};
  };

  Severity severity = Severity::error;
  std::string code = {};  ///< stable, for example "P014"; its page is shown by `lockstep explain P014`
  std::string message = {};
  Location location = {};
  std::string did_you_mean = {};  ///< the one near name, without quotes
  std::vector<Note> notes = {};   ///< where something was declared, other candidates
  std::string help = {};          ///< what to do
};

/// The exception of everything inside Lockstep that fails because of its input.
///
/// A step may throw it from `run`: the step's status becomes ERROR with this message and help line.
/// ```cpp
/// throw lockstep::Error{"config.json: hidden_size is 0, expected a positive integer", "correct the checkpoint"};
/// ```
class LOCKSTEP_API Error : public std::runtime_error {
 public:
  explicit Error(Diagnostic diagnostic);
  explicit Error(std::string message, std::string help = {});
  ~Error() override;

  [[nodiscard]] const Diagnostic& diagnostic() const noexcept { return *diagnostic_; }

 private:
  std::shared_ptr<const Diagnostic> diagnostic_;  // shared: exceptions must copy without throwing
};

/// The candidate nearest to `wrong`, or "" if none is near: at most (length + 2) / 3 edits (insert, remove, replace,
/// swap of neighbours), case ignored, and not every character replaced. The first of several equally near ones.
[[nodiscard]] LOCKSTEP_API std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& candidates);

}  // namespace lockstep
