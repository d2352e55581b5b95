#include "pipeline/code_families.hpp"

namespace lockstep {

std::span<const DiagnosticCode> file_codes() { return {}; }

}  // namespace lockstep
