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
};

}  // namespace

std::span<const DiagnosticCode> file_codes() { return codes; }

}  // namespace lockstep
