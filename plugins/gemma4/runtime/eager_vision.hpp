#pragma once

#include <ATen/core/Tensor.h>

#include <lockstep/export.hpp>
#include <lockstep/port.hpp>

#include "runtime/vision_weights.hpp"

namespace gemma4 {

/// The same model as static_vision_prefill without a profile, written for itself: positions, mask and pooling come from
/// the ids of each call, rows of padding are found by a boolean and stripped by it. What the static graph is compared
/// with. When weights and activations are quantized one day, this view is too.
///
/// pixel_values [N, P, 3 * patch_size^2] of float32 or the computing dtype T; image_position_ids int64 [N, P, 2] as
/// (x, y), (-1, -1) for padding; the result is T [tokens of all pictures, hidden_size of the text].
/// `taps` sees "vis.L<i>.out", T [N, P, Hv]. Throws lockstep::Error for shapes, dtypes or positions that do not fit.
[[nodiscard]] LOCKSTEP_API at::Tensor eager_vision_features(const VisionWeights& weights,
                                                            const at::Tensor& pixel_values,
                                                            const at::Tensor& image_position_ids,
                                                            const lockstep::TensorVisitor& taps = {});

}  // namespace gemma4
