#pragma once

#include <string>
#include <vector>

#include "report/record_diff.hpp"
#include "report/terminal.hpp"

namespace lockstep {

/// For the terminal: a heading per group, a line per change, the last line says how many there are. Long groups are cut
/// and information is left out unless the style is verbose; quiet is the last line alone.
[[nodiscard]] LOCKSTEP_API std::string record_diff_text(const std::vector<RecordChange>& changes,
                                                        const TerminalStyle& style);

/// One JSON document, all changes.
[[nodiscard]] LOCKSTEP_API std::string record_diff_json(const std::string& before, const std::string& after,
                                                        const std::vector<RecordChange>& changes);

}  // namespace lockstep
