#pragma once

#include <string_view>

namespace lockstep::html_page {

// The files of core/report/html; cmake/EmbedHtml.cmake turns them into the definitions.

extern const std::string_view page;    ///< page.html, with {{title}} and other places to fill
extern const std::string_view style;   ///< style.css
extern const std::string_view script;  ///< the scripts, in the order in which they need one another

}  // namespace lockstep::html_page
