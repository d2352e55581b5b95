#pragma once

#include <atomic>

#include <lockstep/port.hpp>

namespace counting {

/// A type that the engine has never heard of; knows how many of its kind are alive.
struct Count {
  explicit Count(int v) : value(v) {}
  int value;
};

}  // namespace counting

LOCKSTEP_PORT_TYPE(counting::Count, "counting.count/1");
