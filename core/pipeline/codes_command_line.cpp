#include "pipeline/code_families.hpp"

namespace lockstep {

std::span<const DiagnosticCode> command_line_codes() { return {}; }

}  // namespace lockstep
