#pragma once

#include <string>

#include "engine/record.hpp"

namespace lockstep {

/// The run record as one HTML page that needs nothing else: no network, no other file. Its text, style and script are
/// the files of core/report/html; the record is embedded as JSON, and what it says is never taken for markup.
///
/// Without JavaScript the page still tells the verdict and the checks that are not fine.
[[nodiscard]] LOCKSTEP_API std::string to_html(const RunRecord& record);

/// An earlier run, and what to call it: the file of its record.
struct PreviousRun {
  std::string name;
  RunRecord record;
};
/// The same page, which also shows what moved since `previous`.
[[nodiscard]] LOCKSTEP_API std::string to_html(const RunRecord& record, const PreviousRun& previous);

}  // namespace lockstep
