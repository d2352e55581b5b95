#include <array>

#include "pipeline/code_families.hpp"

namespace lockstep {
namespace {

constexpr std::array codes{
    DiagnosticCode{"C001", "unknown verb", R"(
The first word after `lockstep` is what to do: `run`, `validate`, `plan`, `list`, `describe`, `explain`, `compare`. It is
missing, or is none of them.

    lockstep pipelines/gemma4.toml           # C001
    lockstep run pipelines/gemma4.toml       # right

`lockstep --help` says what each does. Exit code 2.
)"},
    DiagnosticCode{"C002", "unknown option", R"(
The verb has no option of this name. Options are written out: `--verb` is not short for `--verbose`.

`lockstep VERB --help` lists the options of a verb. Exit code 2.
)"},
    DiagnosticCode{"C003", "option without its value, or with one too many", R"(
An option that needs a value ends the command line or is followed by another option, or a switch was given a value
(`--quiet=yes`). A value follows after a space or after `=`: `--json out.json`, `--json=out.json`. One that begins with
two dashes needs the `=`. Exit code 2.
)"},
    DiagnosticCode{"C004", "option given more than once", R"(
Only one value of this option can count, and taking the last one silently would hide a mistake. `lockstep VERB --help`
says which options are repeatable. Exit code 2.
)"},
    DiagnosticCode{"C005", "value that an option does not take", R"(
The option takes one of a few words, or a number, and was given something else; or its value is empty, as when a shell's
variable is not set. Numbers are written as in C: `0.001`, `1e-3`. Exit code 2.
)"},
    DiagnosticCode{"C006", "argument missing", R"(
The verb needs a pipeline, a step, a code or two files, and the command line ends before it. Exit code 2.
)"},
    DiagnosticCode{"C007", "too many arguments", R"(
The verb does not know what to do with this word. A text with spaces needs quotes, as in
`--set "prompt=Describe the image."`. Exit code 2.
)"},
    DiagnosticCode{"C008", "options that cannot go together", R"(
Each of the two options is fine alone, but they ask for opposite things, such as `--quiet` and `--verbose`. Exit code 2.
)"},
    DiagnosticCode{"C009", "selected step does not exist", R"(
`--only`, `--from` or `--to` names a step that the pipeline does not have, in no row of its matrix. They take the `id` of a
step, not the name after `uses`. `lockstep plan PIPELINE` shows the ids. Exit code 2.
)"},
    DiagnosticCode{"C010", "selection is empty", R"(
`--from` names a step that comes after the one that `--to` names. Steps run in the order of the file. Or the steps that
`--only`, `--from` and `--to` name are in no row of the matrix that `--row` chooses, though in others. Exit code 2.
)"},
    DiagnosticCode{"C011", "two reports with one target", R"(
`--json` and `--junit` name the same file, or both ask for standard output; the second would overwrite the first. Or
the report of a row of a matrix, which lies beside the one that is named, would be written over the pipeline, an overlay, the
baseline or another report, or its name would be longer than a file's may be. Nothing ran. Exit code 2.
)"},
    DiagnosticCode{"C012", "unknown diagnostic code", R"(
`lockstep explain` was asked for a code that does not exist. Codes stand in brackets after `error` and `warning`. Upper
and lower case are the same. Exit code 2.
)"},
    DiagnosticCode{"C013", "bound that does not fit the metric", R"(
`lockstep compare` was given a bound that its metric does not have, or lacks one that it needs: `close` takes `--rtol` and
`--atol`, both or neither; `max_abs` and most others need `--max`; `cosine`, `pcc`, `sqnr`, `top1` and `topk` need `--min`.
Or the bound is none: as in a pipeline it is a finite number that is not negative, a share (`--min` of `cosine`, `pcc`,
`top1`, `topk`) is at most 1, and `--k` of `topk` is an integer of at least 1. Exit code 2.
)"},
    DiagnosticCode{"C014", "unreadable --map", R"(
`--map OLD=NEW` says that the tensor OLD of the first file is called NEW in the second; with a `*` in each, what the first one
stands for is put in the place of the second. Both names are needed, each tensor can be renamed once, and no two can be given
the same name. Of several that fit a name the first counts; one that fits none is refused. Exit code 2.
)"},
    DiagnosticCode{"C015", "plugin folder does not exist", R"(
`--plugin-path` names something that is not there or is no folder. Going on would take the steps from the next folder of
the search order, and verify with another plugin than the one that was asked for. Folders in the environment variable
`LOCKSTEP_PLUGIN_PATH` may be missing. Exit code 2.
)"},
    DiagnosticCode{"C016", "option that needs another", R"(
`--update-baseline` needs `--baseline FILE`, the file that it writes; `--reason TEXT` needs `--update-baseline`, which keeps
the reason in that file. Exit code 2.
)"},
    DiagnosticCode{"C017", "matrix that GitHub does not take", R"(
`lockstep plan --format github-matrix` makes a job for each row. GitHub takes at least one and at most 256 of them. Choose rows
with `--row` or `--shard`, or make a job for each shard, as the workflow of docs/ci.md does. No axis may
be called `row`, the key of a row's name in a job. Exit code 2.
)"},
    DiagnosticCode{"C018", "pipeline without a check", R"(
A warning of `lockstep validate`: the steps compute, and none of them compares anything, or all checks are `off`. Such a run
ends with exit code 0 once its steps ran, for there is nothing that it could fail.
)"},
};

}  // namespace

std::span<const DiagnosticCode> command_line_codes() { return codes; }

}  // namespace lockstep
