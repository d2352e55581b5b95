#pragma once

#include <span>

#include "pipeline/diagnostic_codes.hpp"

namespace lockstep {

// One table per family, each in a file of its own (codes_pipeline.cpp, …). A family without codes returns {}.
// A new code is one more entry `{"L001", "title", R"(page)"}` and a golden text tests/**/golden/L001*.txt.

[[nodiscard]] std::span<const DiagnosticCode> pipeline_codes();
[[nodiscard]] std::span<const DiagnosticCode> plugin_codes();
[[nodiscard]] std::span<const DiagnosticCode> command_line_codes();
[[nodiscard]] std::span<const DiagnosticCode> run_codes();
[[nodiscard]] std::span<const DiagnosticCode> file_codes();
[[nodiscard]] std::span<const DiagnosticCode> report_codes();
[[nodiscard]] std::span<const DiagnosticCode> new_codes();

}  // namespace lockstep
