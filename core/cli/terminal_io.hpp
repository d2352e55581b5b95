#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <lockstep/diagnostic.hpp>

#include "cli/command_line.hpp"
#include "report/terminal.hpp"

namespace lockstep::cli {

[[nodiscard]] bool is_terminal(std::FILE* stream);

/// --color of `arguments`; without it: colour on a terminal unless NO_COLOR is set or TERM is "dumb".
[[nodiscard]] bool use_colour(const Arguments& arguments, std::FILE* stream);
/// The same before any argument is known.
[[nodiscard]] bool use_colour(std::FILE* stream);
/// --quiet or --verbose.
[[nodiscard]] Detail detail_of(const Arguments& arguments);

void print(std::FILE* stream, const std::string& text);

/// Each diagnostic as a compiler shows it, on standard error.
void print(const std::vector<Diagnostic>& diagnostics, bool colour);

/// False if something that was printed to standard output got lost, for example on a full disk; a reader that left
/// early (`| head`) loses nothing that it wanted.
[[nodiscard]] bool flush_standard_output();

/// R001 if a report that was printed to `stream`, standard output or error, got lost.
[[nodiscard]] std::optional<Diagnostic> printing_failure(std::FILE* stream);

}  // namespace lockstep::cli
