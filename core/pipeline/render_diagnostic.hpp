#pragma once

#include <string>
#include <vector>

#include <lockstep/diagnostic.hpp>

namespace lockstep {

/// A diagnostic as a compiler shows it; ends with a newline.
/// ```
/// pipelines/gemma4.toml:27:3: error[P014]: step 'compare_logits' has no parameter 'toleranse'
///  27 |   toleranse = 0.5
///     |   ^^^^^^^^^ did you mean 'tolerance'?
///   note: declared by plugin 'compare' (pipelines/gemma4.toml:20:8)
///   help: parameters of this step: left, right, tolerance, report_top_k
/// ```
/// `color` adds ANSI colours. Long lines are clipped around the place; control characters are made visible.
[[nodiscard]] LOCKSTEP_API std::string render(const Diagnostic& diagnostic, bool color);

/// "2 errors, 1 warning"; "" for none.
[[nodiscard]] LOCKSTEP_API std::string count_text(const std::vector<Diagnostic>& diagnostics);

/// `text` in single quotes, fit for a message: control characters made visible, clipped after about 80 characters.
[[nodiscard]] LOCKSTEP_API std::string in_quotes(std::string_view text);

}  // namespace lockstep
