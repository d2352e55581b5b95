#pragma once

#include <string>

#include "engine/record.hpp"

namespace lockstep {

/// The run record as one JSON document, as docs/record.md describes it. Ends in a newline; always valid UTF-8 (other
/// bytes become U+FFFD). Numbers that JSON lacks are the strings "nan", "inf" and "-inf".
[[nodiscard]] LOCKSTEP_API std::string to_json(const RunRecord& record);

}  // namespace lockstep
