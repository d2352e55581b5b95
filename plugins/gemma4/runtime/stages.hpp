#pragma once

#include <array>
#include <string_view>

namespace gemma4 {

/// The stages of a runtime, in the order in which their results flow. The shipped pipeline's steps have these ids.
inline constexpr std::array<std::string_view, 8> stage_names{
    "build_static_inputs", "token_embedding", "vision_prefill", "mm_fusion",
    "masks_and_rope",      "prefill",         "decode",         "generation"};

}  // namespace gemma4
