#include "pipeline/code_families.hpp"

namespace lockstep {

std::span<const DiagnosticCode> run_codes() { return {}; }

}  // namespace lockstep
