#include "pipeline/code_families.hpp"

namespace lockstep {

std::span<const DiagnosticCode> plugin_codes() { return {}; }

}  // namespace lockstep
