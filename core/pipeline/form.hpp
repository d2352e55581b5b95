#pragma once

#include "pipeline/findings.hpp"
#include "pipeline/node.hpp"

namespace lockstep {

/// The form of a pipeline file: its keys, and the keys of its steps. What is wrong is reported and made `reported()` or
/// taken out, so that what follows need not look again: afterwards `vars` and `environment`, if there, are tables and
/// `step`, if there, is a list of tables. False if the file follows another schema and cannot be understood.
[[nodiscard]] bool check_pipeline_form(Node& document, Findings& findings);

/// The same for an overlay (`--config` files, and all `--set` arguments together): afterwards `step` is a table of
/// tables.
[[nodiscard]] bool check_overlay_form(Node& document, Findings& findings);

}  // namespace lockstep
