#pragma once

#include "cli/command_line.hpp"
#include "engine/record.hpp"

namespace lockstep::cli {

/// The run record that an argument names, '-' for standard input. Throws CommandLineError (exit code 2).
[[nodiscard]] RunRecord record_of(const Arguments::Given& file);

}  // namespace lockstep::cli
