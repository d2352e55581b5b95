#pragma once

#include <array>
#include <string>
#include <vector>

#include <lockstep/export.hpp>

#include "pipeline/plan.hpp"

namespace lockstep {

/// The files through which the process of a run and that of an isolated step deal with each other; in the new process
/// they have the same descriptors, which it is given as arguments in this order.
enum class WorkerFile { request, given, board, answer, results };
inline constexpr std::size_t worker_files = 5;

/// The whole work of the process of an isolated step: reads the request, runs its steps, writes the answer. Throws
/// Error if the descriptors are not those of a request.
LOCKSTEP_API void run_worker(const std::array<int, worker_files>& descriptors, StepCatalog& catalog);

}  // namespace lockstep
