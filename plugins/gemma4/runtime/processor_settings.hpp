#pragma once

#include <optional>

#include <lockstep/export.hpp>

#include "checkpoint/checkpoint.hpp"
#include "runtime/vision_profile.hpp"

namespace gemma4 {

/// None for a text-only checkpoint.
[[nodiscard]] LOCKSTEP_API std::optional<VisionGeometry> vision_geometry_of(const Checkpoint& checkpoint);
/// From tokenizer_config.json, processor_config.json and the checkpoint's image processor; a file that is missing says
/// nothing. Throws lockstep::Error naming file and key if a value has the wrong type or a file is not JSON.
[[nodiscard]] LOCKSTEP_API ProcessorSettings processor_settings_of(const Checkpoint& checkpoint);

}  // namespace gemma4
