#pragma once

#include <memory>

#include <lockstep/step.hpp>

#include "engine/step_call.hpp"
#include "engine/tensor_memory.hpp"
#include "engine/worker_message.hpp"
#include "tensor/mapped_file.hpp"

namespace lockstep {

/// Leaves `step` and `context` as if the step had run here. `given` is what the request sent, `results` the memory of
/// the answer. With `dump` the tensors of outputs that stay in their process are wanted too. Throws Error, and changes
/// nothing, if the answer does not fit the step.
[[nodiscard]] StepCall take_over(WorkerAnswer answer, const TensorMemory& given,
                                 const std::shared_ptr<const MappedFile>& results, bool dump, Step& step,
                                 StepContext& context);

}  // namespace lockstep
