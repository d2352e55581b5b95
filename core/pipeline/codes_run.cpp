#include <array>

#include "pipeline/code_families.hpp"

namespace lockstep {
namespace {

constexpr std::array codes{
    DiagnosticCode{"S001", "step ended in ERROR", R"(
The step threw an exception: it could not compute. Its text is the message. Nothing of the step is published, its checks
have no verdict, and the steps that read from it are skipped.

An ERROR is not a FAIL: a FAIL says that numbers were compared and differ. Exit code 4.
)"},
    DiagnosticCode{"S002", "step threw a foreign exception", R"(
The step threw something that is not derived from `std::exception`, so there is no text to show.

Throw `lockstep::Error`, whose message says what was found, what was expected and what to do. Exit code 4.
)"},
    DiagnosticCode{"S003", "step left an output unset", R"(
The step ended without setting an output that is not optional, and none of its checks failed, so nothing explains the
gap. Steps that read the output are skipped.

Set the output, declare it `optional`, or fail a check that says why it cannot be set. Exit code 4.
)"},
    DiagnosticCode{"S004", "dump cannot be written", R"(
`--dump DIR` asks for the results of every step as `DIR/<step>.safetensors`, and one of the files cannot be written. The
run goes on and its verdicts stand. No partial file is left.

Give `--dump` a folder that can be written, on a disk with room. Exit code 4.
)"},
    DiagnosticCode{"S005", "step crashed", R"(
The process of a step with `isolation = "process"` ended before the step did: by a signal (a wrong memory access, a failed
assertion, the kernel's end of the largest process when memory runs out) or by a call of `exit`. The record keeps the
last lines that it wrote as `output_tail`. Its readers are skipped, the other steps run. Exit code 5.
)"},
    DiagnosticCode{"S006", "step ran past its time limit", R"(
The process of a step with `isolation = "process"` was still running after its `time_limit`, so it was ended. The limit
counts from the start of the process, so it holds the loading of its libraries and the inputs that it computes again too.
The step counts as crashed. Exit code 5.
)"},
    DiagnosticCode{"S007", "step cannot be isolated", R"(
No process could be started for a step with `isolation = "process"`, or its inputs could not be handed over, or what came out could
not be handed back: they lie in temporary files, in the folder that `TMPDIR` names or else in /tmp. The message holds the
reason that the system gives. Exit code 4.
)"},
};

}  // namespace

std::span<const DiagnosticCode> run_codes() { return codes; }

}  // namespace lockstep
