#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/dumped_stages.hpp"
#include "runtime/runtime.hpp"

namespace gemma4 {

/// What a session needs to know of the model.
struct DumpedModel {
  std::vector<std::int64_t> cache_layers;  ///< with keys and values of their own
  std::vector<std::int64_t> eos_token_ids;
};

/// One prompt and the tokens after it, as they were dumped (RecordedRuntime lists the names). Without a
/// snapshot the session is before the prompt; with one, which must be the dump's own, behind it.
///
/// decode answers for the dumped tokens only, in their order. A static cache keeps position p in slot p, so the last
/// dumped cache is that after every step. Throws NotServed for what the dump does not have, and
/// for inputs (embeddings, masks, rope, cache) other than those that it was computed from, as far as it has them.
[[nodiscard]] std::unique_ptr<RuntimeSession> make_dumped_session(std::shared_ptr<const DumpedStages> stages,
                                                                  DumpedModel model, const KvCache* snapshot);

}  // namespace gemma4
