#include "pipeline/code_families.hpp"

namespace lockstep {

std::span<const DiagnosticCode> pipeline_codes() { return {}; }

}  // namespace lockstep
