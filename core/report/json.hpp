#pragma once

#include <string>
#include <vector>

#include "engine/record.hpp"

namespace lockstep {

/// The run record as one JSON document, as docs/record.md describes it. Ends in a newline; always valid UTF-8 (other
/// bytes become U+FFFD). Numbers that JSON lacks are the strings "nan", "inf" and "-inf".
[[nodiscard]] LOCKSTEP_API std::string to_json(const RunRecord& record);

/// One step as it stands in that document. A step that is over does not change, so its text can be kept.
[[nodiscard]] LOCKSTEP_API std::string step_to_json(const StepRecord& step);
/// The document from its steps' texts: `to_json(record)` if each is `step_to_json` of that step.
[[nodiscard]] LOCKSTEP_API std::string to_json(const RunRecord& record, const std::vector<std::string>& steps);

}  // namespace lockstep
