#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <lockstep/export.hpp>

namespace lockstep {

/// One kind of diagnostic: a stable code and what `lockstep explain` and docs/diagnostics.md say about it.
///
/// The letter is the family: P pipeline files and binding, L plugins that do not load, C the command line, S a step
/// that fails while it runs, F data files, R writing of reports. A code that was once released keeps its meaning.
struct DiagnosticCode {
  std::string_view code;   ///< "P014"
  std::string_view title;  ///< lower case, no final period: "unknown parameter"
  std::string_view page;   ///< Markdown: when it is reported, an example, what to do
};

/// Case-insensitive; null if there is no such code.
[[nodiscard]] LOCKSTEP_API const DiagnosticCode* find_code(std::string_view code);

/// Every code, sorted within its family.
[[nodiscard]] LOCKSTEP_API std::vector<DiagnosticCode> all_codes();

/// The page of one code: heading, then text.
[[nodiscard]] LOCKSTEP_API std::string code_page(const DiagnosticCode& code);

/// docs/diagnostics.md, whole.
[[nodiscard]] LOCKSTEP_API std::string diagnostics_markdown();

}  // namespace lockstep
