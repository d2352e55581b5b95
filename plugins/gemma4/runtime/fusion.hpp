#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include <lockstep/export.hpp>

namespace gemma4 {

/// Puts the rows of a picture into its fixed slots: text[:, :start], visual, text[:, start + V:] one after the other.
///
/// text_embeds [B, S, H], visual_embeds [V, H] (then B is 1) or [B, V, H], of one dtype; the result is [B, S, H]. Empty
/// segments take no part: V = 0 gives the text, V = S the visual embeds themselves. Throws lockstep::Error for another
/// rank, batch, width or dtype, for another number of rows than `count`, and for slots outside [0, S).
[[nodiscard]] LOCKSTEP_API at::Tensor fixed_slot_fuse(const at::Tensor& text_embeds, const at::Tensor& visual_embeds,
                                                      std::int64_t start, std::int64_t count);

}  // namespace gemma4
