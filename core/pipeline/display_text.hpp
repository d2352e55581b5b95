#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lockstep {

/// One displayed character of a text: its bytes and the columns that it takes on a terminal.
struct DisplayUnit {
  std::string text;  ///< what to print: tabs are spaces, control characters and broken UTF-8 are made visible
  std::size_t bytes = 1;
  std::size_t columns = 1;
};

/// The unit that starts at `position`; `position` < text.size().
[[nodiscard]] DisplayUnit display_unit(std::string_view text, std::size_t position);

/// `text` with tabs as spaces and control characters made visible; cut after `limit` columns with "…".
[[nodiscard]] std::string display_text(std::string_view text, std::size_t limit);

}  // namespace lockstep
