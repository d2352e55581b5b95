#pragma once

#include <optional>
#include <string>
#include <type_traits>

#include <lockstep/check.hpp>
#include <lockstep/context.hpp>

#include "runtime/not_served.hpp"

namespace gemma4 {

/// What the runtime answers. None if it has nothing for the stage: then `check` has failed with the name of what is
/// missing or, if the stage is not required, the step is skipped; the caller returns.
/// ```cpp
/// const auto actual = gemma4::ask_runtime(context, matches_reference, [&] { return runtime->token_embedding(ids); });
/// if (!actual) return;
/// ```
template <class Ask>
std::optional<std::invoke_result_t<Ask>> ask_runtime(lockstep::StepContext& context, lockstep::Check& check,
                                                     const Ask& ask) {
  try {
    return ask();
  } catch (const NotServed& missing) {
    const auto& found = missing.diagnostic();
    if (missing.required()) {
      check.expect(false, found.help.empty() ? found.message : found.message + ": " + found.help);
    } else {
      context.skip(found.message);
    }
    return std::nullopt;
  }
}

}  // namespace gemma4
