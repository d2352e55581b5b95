#pragma once

#include <memory>

#include <lockstep/export.hpp>
#include "reference/reference.hpp"

namespace gemma4 {

/// transformers' model op for op in LibTorch: same operations, dtypes, layouts and order, computed from the checkpoint.
/// `dtype` is bfloat16 or float32; another one is an Error. Weights of another dtype are converted when they are used.
[[nodiscard]] LOCKSTEP_API std::shared_ptr<const Reference> make_native_reference(
    std::shared_ptr<const Checkpoint> checkpoint, lockstep::DType dtype);

}  // namespace gemma4
