#pragma once

#include <lockstep/export.hpp>
#include "checkpoint/checkpoint.hpp"
#include "recording/recording.hpp"

namespace gemma4 {

/// Throws lockstep::Error that names the file unless the checkpoint has each recorded file with the recorded sha256.
LOCKSTEP_API void require_recorded_checkpoint(const Recording& recording, const Checkpoint& checkpoint);

}  // namespace gemma4
