#pragma once

#include <string>
#include <vector>

#include <lockstep/check.hpp>

#include "report/terminal.hpp"

namespace lockstep {

/// What `lockstep compare` found.
struct FileComparison {
  std::string expected_file;
  std::string actual_file;
  std::vector<CheckResult> results;        ///< tensors in both files, in the order of the first
  std::vector<std::string> only_expected;  ///< tensors that the second file lacks
  std::vector<std::string> only_actual;
};

/// Both files have the same tensors, none differs and at least one element was compared.
[[nodiscard]] LOCKSTEP_API bool passes(const FileComparison& comparison);

[[nodiscard]] LOCKSTEP_API std::string file_comparison_text(const FileComparison& comparison,
                                                            const TerminalStyle& style);

}  // namespace lockstep
