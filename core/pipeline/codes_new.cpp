#include <array>

#include "pipeline/code_families.hpp"

namespace lockstep {
namespace {

constexpr std::array codes{
    DiagnosticCode{"N001", "nothing that can be made", R"(
`lockstep new` makes a step and nothing else: `lockstep new step mine.rms_norm`. Exit code 2.
)"},
    DiagnosticCode{"N002", "not a step's name", R"(
A step is called `family.name`: lower-case letters, digits and `_`, each part beginning with a letter. The family says whose
the step is, such as `gemma4` or `mine`; the plugin's file is called the same. Exit code 2.
)"},
    DiagnosticCode{"N003", "files are in the way", R"(
`lockstep new` never overwrites a file. The message lists those that exist already; nothing was written. Choose another name
or folder, or move them. Exit code 2.
)"},
    DiagnosticCode{"N004", "no source tree", R"(
Without `--out-of-tree` a new step is put into the source tree of Lockstep, or the project with a `find_package(Lockstep …)`,
that the working directory lies in, and it lies in none. `--out-of-tree DIR` makes a project of its own, which finds an installed Lockstep. Exit code 2.
)"},
    DiagnosticCode{"N005", "new files cannot be written", R"(
A folder or file of the new step cannot be made: the place may not be written to, a file is where a folder is to be, or a name is
too long. The message holds the reason that the system gives. What was written before it is taken back. Exit code 4.
)"},
};

}  // namespace

std::span<const DiagnosticCode> new_codes() { return codes; }

}  // namespace lockstep
