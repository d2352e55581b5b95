#pragma once

#include <string_view>

#include <ATen/core/Tensor.h>

#include <lockstep/export.hpp>

namespace gemma4 {

/// Throws lockstep::Error naming `what`, its shape and the one expected, unless they are equal. A static graph asserts
/// with it that no shape depends on the data or on the step.
LOCKSTEP_API void ensure_static_shape(const at::Tensor& tensor, at::IntArrayRef sizes, std::string_view what);

}  // namespace gemma4
