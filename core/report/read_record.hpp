#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/record.hpp"

namespace lockstep {

/// The record that `to_json` wrote: `to_json(read_record(to_json(r), …)) == to_json(r)`. Fields that schema 1 does not
/// know are kept where they belong to a step (`StepRecord::extra`) and left out elsewhere; those that came to the
/// schema later may be missing. A place in a source text keeps name, line and column, not the text.
///
/// Throws Error (F003) for anything else, with the place in `name`, what was found and what was expected.
[[nodiscard]] LOCKSTEP_API RunRecord read_record(std::string_view json, const std::string& name);

/// One step, as `step_to_json` writes it.
[[nodiscard]] LOCKSTEP_API StepRecord read_step(std::string_view json, const std::string& name);

/// The record in `file`; "-" is standard input. Throws Error (F003), also if the file cannot be read.
[[nodiscard]] LOCKSTEP_API RunRecord read_record_file(const std::filesystem::path& file);

}  // namespace lockstep
