#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace lockstep {

/// The port, parameter or check of this name among a step's declarations; null if it declares none.
template <class Member>
[[nodiscard]] Member* declared(const std::vector<Member*>& members, std::string_view name) {
  const auto found = std::ranges::find_if(members, [name](const Member* each) { return each->info().name == name; });
  return found == members.end() ? nullptr : *found;
}

}  // namespace lockstep
