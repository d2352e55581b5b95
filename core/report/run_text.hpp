#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/record.hpp"

namespace lockstep {

/// "shapes-gemma4 · bfloat16 · 2 threads · LibTorch 2.13.0 AVX2"; what the environment does not have is left out.
[[nodiscard]] std::string environment_text(const RunRecord& record);

/// What there is to say about the whole run: its message; of one that did not end, in which step it may have been.
[[nodiscard]] std::optional<std::string> message_text(const RunRecord& record);

/// "failed: 1 · passed: 2 · 0.71 s · 190 MiB": how many steps ended how. A step that is not scored counts as that,
/// unless it ended in an error.
[[nodiscard]] std::string counts_text(const RunRecord& record);

/// "rows passed: 2 of 4 · 1.20 s": of a summary.
[[nodiscard]] std::string rows_count_text(const RunRecord& summary);

/// "baseline ci/base.toml: 1 of 40 checks worse", and what else there is to say about all of it.
[[nodiscard]] std::vector<std::string> baseline_lines(const BaselineRecord& baseline);

/// "matches_reference layer 3": check and subject of a finding.
[[nodiscard]] std::string title_of(const BaselineRecord::Finding& finding);

/// `word` as a POSIX shell reads it back.
[[nodiscard]] LOCKSTEP_API std::string quoted_for_shell(const std::string& word);

/// "lockstep run pipelines/gemma4.toml --set max_seq=160", words quoted for a POSIX shell where they have to be.
[[nodiscard]] std::string command_text(const RunRecord& record);

}  // namespace lockstep
