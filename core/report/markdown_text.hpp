#pragma once

#include <string>
#include <string_view>

namespace lockstep {

/// `text` as plain words of Markdown, for a table's cell too: nothing in it is taken for Markdown, HTML, a mention or a
/// reference to an issue. One line: control characters are made visible. Cut after 300 columns.
[[nodiscard]] std::string markdown_text(std::string_view text);

/// `text` as inline code, for a table's cell too. Cut after 300 columns.
[[nodiscard]] std::string markdown_code(std::string_view text);

/// `text` as a fenced block of `language`.
[[nodiscard]] std::string markdown_block(std::string_view text, std::string_view language);

}  // namespace lockstep
