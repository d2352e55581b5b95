#include <array>

#include "pipeline/code_families.hpp"

namespace lockstep {
namespace {

constexpr std::array codes{
    DiagnosticCode{"L001", "plugin not found", R"(
No file for the step was found, or the file named by `plugin` does not exist.

A step `family.name` lies in a file `family.name.so`. The folders are searched in this order: those given with
`--plugin-path`, those in `LOCKSTEP_PLUGIN_PATH` (separated by colons), then `../lib/lockstep/plugins` beside the
program. `lockstep list` shows what is found.

Correct the name, build the plugin, or name its folder. A step that is not built yet can carry `skip = "reason"`.
Exit code 2.
)"},
    DiagnosticCode{"L002", "plugin cannot be loaded", R"(
The file was found but the dynamic linker refuses it; its reason stands in the message. Frequent reasons: a symbol that
no library defines, a library that the plugin needs and that is not installed, a file that is no shared library.

The first file in the search order counts. The next folder is not tried, because that would hide the fault.

Rebuild the plugin; build it with `lockstep_add_step`, which lets the linker refuse undefined symbols. Exit code 3.
)"},
    DiagnosticCode{"L003", "not a plugin", R"(
The file is a shared library, but it does not export the one symbol by which the engine knows a plugin.

End the step's source file with `LOCKSTEP_STEP("family.name", Type)`. Exit code 3.
)"},
    DiagnosticCode{"L004", "plugin entry failed", R"(
The plugin's entry function threw an exception or returned null. The entry that `LOCKSTEP_STEP` writes does neither.

Use the macro instead of an entry of your own. Exit code 3.
)"},
    DiagnosticCode{"L005", "plugin built for another engine", R"(
Every plugin carries a stamp: the engine's API version, the compiler's and the standard library's ABI, the sanitizer,
and the version of LibTorch if it links one. It is compared before any C++ of the plugin is called, because objects of
different builds cannot be exchanged safely. Plugins of two LibTorch versions do not fit into one process.

Rebuild the plugin with the headers of this Lockstep, the same compiler and the same LibTorch. Exit code 3.
)"},
    DiagnosticCode{"L006", "plugin holds another step", R"(
A plugin's file is named after its step, so that a run opens only what it uses. Here the two names differ.

Rename the file, or correct the name in `LOCKSTEP_STEP` or `uses`. Exit code 3.
)"},
    DiagnosticCode{"L007", "step constructor failed", R"(
The constructor of the step threw an exception. Constructors only declare ports, parameters and checks: they run for
`lockstep list` and `lockstep validate` too.

Move work that can fail into `run`. Exit code 3.
)"},
};

}  // namespace

std::span<const DiagnosticCode> plugin_codes() { return codes; }

}  // namespace lockstep
