#pragma once

#include <memory>

#include <lockstep/export.hpp>

#include "checkpoint/text_tensors.hpp"
#include "runtime/runtime.hpp"
#include "runtime/text_model.hpp"

namespace gemma4 {

/// A session of the native static runtime. `snapshot`, if given, is what decode goes on from; null: prefill comes
/// first. Keeps the model alive.
[[nodiscard]] LOCKSTEP_API std::unique_ptr<RuntimeSession> make_text_session(std::shared_ptr<const TextModel> model,
                                                                             const KvCache* snapshot = nullptr);

}  // namespace gemma4
