#pragma once

#include <cstddef>
#include <string>

#include "engine/record.hpp"

namespace lockstep {

enum class Detail {
  quiet,  ///< steps that failed, and the footer
  normal,
  verbose,  ///< every check, statistics, parameters
};

struct TerminalStyle {
  bool colour = false;
  Detail detail = Detail::normal;
};

/// The terminal's report, in pieces that together are `terminal_report`: so that a run can print each step as it ends.
[[nodiscard]] LOCKSTEP_API std::string terminal_header(const RunRecord& record, const TerminalStyle& style);
/// The lines of one step that has ended; "" for one that the style leaves out.
[[nodiscard]] LOCKSTEP_API std::string terminal_step(const RunRecord& record, std::size_t step,
                                                     const TerminalStyle& style);
[[nodiscard]] LOCKSTEP_API std::string terminal_footer(const RunRecord& record, const TerminalStyle& style);

[[nodiscard]] LOCKSTEP_API std::string terminal_report(const RunRecord& record, const TerminalStyle& style);

}  // namespace lockstep
