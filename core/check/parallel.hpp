#pragma once

#include <cstdint>
#include <functional>

#include <lockstep/export.hpp>

namespace lockstep {

/// Threads that comparisons may use from now on; 0 (the default) means one per processor. Process-wide. No result
/// depends on it.
LOCKSTEP_API void set_check_threads(int threads) noexcept;
[[nodiscard]] LOCKSTEP_API int check_threads() noexcept;

namespace numeric {

/// Calls `task(0) … task(count - 1)`, each once, on up to `check_threads()` threads, in no particular order; returns
/// when all are done. `elements` is the size of the whole job: a small one is not worth starting a thread. Every call
/// sees the default floating-point environment (round to nearest, subnormals kept), whatever the caller's is. The first
/// exception is thrown again here.
void parallel_for(std::int64_t count, std::int64_t elements, const std::function<void(std::int64_t)>& task);

}  // namespace numeric
}  // namespace lockstep
