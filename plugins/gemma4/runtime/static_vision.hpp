#pragma once

#include <ATen/core/Tensor.h>

#include <lockstep/export.hpp>
#include <lockstep/port.hpp>

#include "runtime/vision_tables.hpp"
#include "runtime/vision_weights.hpp"

namespace gemma4 {

/// The static vision graph: every shape is fixed, every position, mask and pooling weight a constant of `tables`; it
/// has no branch and no boolean. `pixel_values` is [1, P, 3 * patch_size^2] of float32 or the computing dtype T, values
/// in [0, 1]; the result is T [num_visual_tokens, hidden_size of the text].
///
/// `taps` sees "vis.pos_add" (after the patch embedder) and "vis.L<i>.out" (after each layer), T [1, P, Hv], and
/// "vis.scaled" (after the pooler), T [num_visual_tokens, Hv]: the names that recordings have. Norms multiply the
/// weight in float32 and round once, as transformers does.
[[nodiscard]] LOCKSTEP_API at::Tensor static_vision_prefill(const VisionWeights& weights, const VisionTables& tables,
                                                            const at::Tensor& pixel_values,
                                                            const lockstep::TensorVisitor& taps = {});

}  // namespace gemma4
