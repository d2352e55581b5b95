#pragma once

#include <cstdint>
#include <memory>

#include <lockstep/export.hpp>
#include <lockstep/tensor.hpp>

#include "checkpoint/checkpoint.hpp"
#include "runtime/faults.hpp"
#include "runtime/runtime.hpp"
#include "runtime/vision_profile.hpp"

namespace gemma4 {

struct StaticRuntimeOptions {
  VisionProfile profile;
  std::int64_t max_seq = 2048;
  lockstep::DType dtype = lockstep::DType::bfloat16;  ///< bfloat16 or float32
  /// Added to the scores of pairs that do not attend. Finite (a row without any pair stays finite) and negative, and
  /// small enough for 16-bit integer scores. Source: TICO's default.
  double mask_fill = -120;
  Fault fault = Fault::none;  ///< for tests only
};

/// Whether a mask can hold `value` where a position may not attend: negative, and finite in every dtype.
[[nodiscard]] LOCKSTEP_API bool is_mask_fill(double value);

/// The native static runtime: LibTorch on the CPU, weights read from the checkpoint's map where they lie.
///
/// Throws lockstep::Error that names the setting if the layout is impossible, the profile does not fit max_seq, the
/// checkpoint's vision config or its processor, or dtype or mask_fill are others than these.
[[nodiscard]] LOCKSTEP_API std::shared_ptr<const Runtime> make_static_runtime(
    std::shared_ptr<const Checkpoint> checkpoint, const StaticRuntimeOptions& options);

}  // namespace gemma4
