#include "runtime/not_served.hpp"

#include <utility>

namespace gemma4 {

NotServed::NotServed(std::string message, std::string help, bool required)
    : Error(std::move(message), std::move(help)), required_(required) {}

// Here, so that every plugin knows the type by one address.
NotServed::~NotServed() = default;

}  // namespace gemma4
