#pragma once

#include <functional>
#include <string>

#include <lockstep/diagnostic.hpp>

namespace gemma4::test {

/// What `action` throws: message and help line of a lockstep::Error. Anything else passes through; "" if nothing.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const lockstep::Error& error) {
    return error.diagnostic().message + " | " + error.diagnostic().help;
  }
  return "";
}

}  // namespace gemma4::test
