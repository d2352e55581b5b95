#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <lockstep/export.hpp>

namespace lockstep {

/// The candidate nearest to `wrong`, or "" if none is near: at most (length + 2) / 3 edits (insert, remove, replace,
/// swap of neighbours), case ignored, and not every character replaced. The first of several equally near ones.
[[nodiscard]] LOCKSTEP_API std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& candidates);

}  // namespace lockstep
