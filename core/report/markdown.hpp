#pragma once

#include <string>

#include "engine/record.hpp"

namespace lockstep {

/// The run record as GitHub-flavoured Markdown, for a comment on a pull request or a job's summary: the verdict, what
/// is wrong as a table, and folded away what passed, the steps, the environment and how to run it again.
///
/// At most 65,000 bytes, as GitHub takes 65,536 characters: what does not fit is counted. Nothing from the record is
/// taken for Markdown or HTML, and nobody is mentioned.
[[nodiscard]] LOCKSTEP_API std::string to_markdown(const RunRecord& record);

}  // namespace lockstep
