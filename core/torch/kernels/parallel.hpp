#pragma once

#include <cstdint>
#include <functional>

namespace lockstep::kernels {

/// Calls task(0), …, task(count - 1), each once, on LibTorch's threads; on the caller's alone if `operations`, the
/// multiplications of all tasks together, are too few to be worth it. Tasks must not throw.
void for_each_task(std::int64_t count, std::int64_t operations, const std::function<void(std::int64_t)>& task);

}  // namespace lockstep::kernels
