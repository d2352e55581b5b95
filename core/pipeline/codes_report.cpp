#include "pipeline/code_families.hpp"

namespace lockstep {

std::span<const DiagnosticCode> report_codes() { return {}; }

}  // namespace lockstep
