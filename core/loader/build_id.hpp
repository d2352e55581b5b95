#pragma once

#include <string>

namespace lockstep {

/// The linker's build id of the loaded object that contains `address`, in hex; "" if it has none.
[[nodiscard]] std::string build_id_of(const void* address);

}  // namespace lockstep
