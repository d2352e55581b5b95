#pragma once

#include "reference/reference.hpp"
#include "runtime/static_batch.hpp"

namespace gemma4 {

/// The prompt of a static batch as the reference takes it: without padding, with the ids of pictures.
[[nodiscard]] ModelInputs model_inputs_of(const StaticBatch& batch);

}  // namespace gemma4
