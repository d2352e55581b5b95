#pragma once

#include <memory>

#include <lockstep/context.hpp>

#include "reference/reference.hpp"
#include "runtime/static_batch.hpp"

namespace gemma4 {

/// The prompt of a static batch as the reference takes it: without padding, with the ids of pictures.
[[nodiscard]] ModelInputs model_inputs_of(const StaticBatch& batch);

/// The reference's pass over the prompt of `batch`: `given`, if this reference made it of this very prompt, else the
/// pass is run. The record says which, as "reference_prompt". `given` may be null.
[[nodiscard]] std::shared_ptr<const ReferencePrompt> prompt_of(lockstep::StepContext& context,
                                                               const Reference& reference, const StaticBatch& batch,
                                                               const std::shared_ptr<const ReferencePrompt>& given);

}  // namespace gemma4
