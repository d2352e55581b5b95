#include <array>

#include "pipeline/code_families.hpp"

namespace lockstep {
namespace {

constexpr std::array codes{
    DiagnosticCode{"F001", "file of tensors cannot be read", R"(
A file given to `lockstep compare` does not exist, may not be read, or is no valid safetensors file. The message says what
was found where. A sharded checkpoint is given by its `model.safetensors.index.json`. Exit code 2.
)"},
    DiagnosticCode{"F002", "renamed tensor does not exist", R"(
`--map OLD=NEW` names a tensor OLD that the first file does not have, or NEW that the second does not. Exit code 2.
)"},
    DiagnosticCode{"F003", "run record cannot be read", R"(
A file that should be a run record, as `lockstep run PIPELINE --json FILE` writes it, does not exist, may not be read, is no
JSON, or is no record of schema 1. The message names the field, what was found there and what was expected. A record that
Lockstep wrote is whole at any time: look for a copy or an upload that was cut off. Exit code 2.
)"},
    DiagnosticCode{"F004", "baseline cannot be used", R"(
The file of `--baseline` does not exist, is no baseline of schema 1, or is of a pipeline with another name. A conflict that
git left in it is no TOML. A file that would make a run compare less without a word is refused too: an unknown ladder level,
metric or field of `environment`, a section without checks, two of one environment, a margin that is not finite. Make
a baseline of a run that passes: `lockstep run PIPELINE --baseline FILE --update-baseline`. Exit code 2.
)"},
    DiagnosticCode{"F005", "records that do not make one summary", R"(
`lockstep merge` was given records that do not belong together: one is no record of a row, they are of different pipelines or
command lines, overlays or selected steps, a row ran twice, a summary is incomplete, a record contradicts
itself, or a row of the matrix is in none of them. The last is why `merge` exists: a machine that was lost must not look like
one that passed. Exit code 2.
)"},
};

}  // namespace

std::span<const DiagnosticCode> file_codes() { return codes; }

}  // namespace lockstep
