#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep {

/// `text` for XML content or an attribute in double quotes: escaped; what XML cannot hold is made visible (`\x1b`).
[[nodiscard]] std::string xml_text(std::string_view text);

using XmlAttributes = std::vector<std::pair<std::string_view, std::string>>;

/// ` name="value" …`, values escaped.
[[nodiscard]] std::string xml_attributes(const XmlAttributes& attributes);

}  // namespace lockstep
