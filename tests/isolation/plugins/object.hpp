#pragma once

#include <cstdint>

#include <lockstep/port.hpp>

namespace iso {

/// A result that cannot be sent: it stands for a loaded runtime.
struct Object {
  std::int64_t value;
  std::int64_t process;  ///< in which it was made
};

}  // namespace iso

LOCKSTEP_PORT_TYPE(iso::Object, "iso.object/1");
