#pragma once

#include "recording/recording.hpp"

namespace gemma4 {

/// Of this process: LibTorch's versions and this machine, computing with `threads`.
[[nodiscard]] Fingerprint fingerprint_here(int threads);

}  // namespace gemma4
