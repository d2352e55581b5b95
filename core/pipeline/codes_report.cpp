#include <array>

#include "pipeline/code_families.hpp"

namespace lockstep {
namespace {

constexpr std::array codes{
    DiagnosticCode{"R001", "report cannot be written", R"(
The run record, another report or the baseline cannot be written; the operating system's reason ends the message. A folder
that is not there or cannot be written to is found before the run: nothing runs, and the exit code is 2. What shows only at
the end, such as a full disk, leaves the verdicts as they are, but whoever reads the report would miss them: the exit code
is 4, and where the run record can be written it holds this diagnostic.

Name a file in a folder that exists, can be written to and has room.
)"},
};

}  // namespace

std::span<const DiagnosticCode> report_codes() { return codes; }

}  // namespace lockstep
