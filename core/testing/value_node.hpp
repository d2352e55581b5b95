#pragma once

#include <memory>

#include <lockstep/diagnostic.hpp>
#include <lockstep/value.hpp>

#include "pipeline/node.hpp"

namespace lockstep {

/// A value as if it had been written in a pipeline file called `source`, at no line in particular.
[[nodiscard]] Node node_of(const Value& value, const std::shared_ptr<const SourceText>& source);

}  // namespace lockstep
