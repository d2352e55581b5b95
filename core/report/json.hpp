#pragma once

#include <string>
#include <string_view>

#include "engine/record.hpp"

namespace lockstep {

/// The run record as one JSON document, as docs/record.md describes it. Ends in a newline; always valid UTF-8 (other
/// bytes become U+FFFD). Numbers that JSON lacks are the strings "nan", "inf" and "-inf".
[[nodiscard]] LOCKSTEP_API std::string to_json(const RunRecord& record);

/// Reads what `to_json` wrote. Unknown fields of a step go to StepRecord::extra, other unknown fields are ignored.
/// Throws Error (code R003) that names the field if the text is no run record of schema 1.
[[nodiscard]] LOCKSTEP_API RunRecord record_from_json(std::string_view text);

}  // namespace lockstep
