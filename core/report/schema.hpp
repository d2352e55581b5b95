#pragma once

#include <string>
#include <vector>

#include "report/describe.hpp"

namespace lockstep {

/// Which kind of file a schema describes.
enum class SchemaOf { pipeline, overlay };

/// A JSON schema (draft 7) of pipeline files or of overlays, for editors: keys, and for each of `steps` its parameters,
/// inputs and checks. It accepts every file that `lockstep validate` accepts with these steps; what needs more than
/// one place of a file (wires, rules between parameters, whether a file exists) only `validate` finds.
/// A variable, `${name}`, may stand for any value.
[[nodiscard]] LOCKSTEP_API std::string schema_text(SchemaOf file, const std::vector<StepDescription>& steps);

}  // namespace lockstep
