#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include <lockstep/tensor.hpp>

#include "runtime/faults.hpp"
#include "runtime/text_weights.hpp"
#include "runtime/vision_profile.hpp"
#include "runtime/vision_tables.hpp"
#include "runtime/vision_weights.hpp"

// Faults that are a matter of what the graphs are built from: for tests only, see faults.hpp. Each function returns
// what it is given unless the fault is one of its own. Those that are a matter of order or of a call stand where they
// act.

namespace gemma4 {

void damage(TextWeights& weights, Fault fault);
void damage(VisionWeights& weights, Fault fault);
void damage(VisionTables& tables, const VisionProfile& profile, Fault fault);
/// pixel_values [1, P, 3 * patch_size^2].
[[nodiscard]] at::Tensor damaged_pixels(const at::Tensor& pixels, const VisionProfile& profile, Fault fault);
/// The result of the vision graph, [V, H].
[[nodiscard]] at::Tensor damaged_features(const at::Tensor& features, Fault fault);
/// embedding_scale of the token table.
[[nodiscard]] double token_scale(std::int64_t width, lockstep::DType dtype, Fault fault);

}  // namespace gemma4
